package io.github.grpcidempotency.procedure;

/** What happens to a call with a key during an outage of the whole store. */
public enum OutagePolicy {
  /**
   * The handler runs without idempotency, and an event and a warning report it. It is an outage if
   * no connection to the store can be made, or if the store is broken for everybody (read-only,
   * disk full, a right or a table missing) and shows no record of the key. A full pool, a timeout,
   * contention and a cut connection are not an outage, because another call may hold the key. Such
   * a call is refused with {@code UNAVAILABLE}.
   */
  FAIL_OPEN,
  /** The call is refused with {@code UNAVAILABLE}. */
  FAIL_CLOSED;

  /** Returns the default policy of a procedure. */
  static OutagePolicy of(Execution execution, KeyPolicy keyPolicy) {
    return execution == Execution.RESERVED && keyPolicy == KeyPolicy.OPTIONAL
        ? FAIL_OPEN
        : FAIL_CLOSED;
  }
}
