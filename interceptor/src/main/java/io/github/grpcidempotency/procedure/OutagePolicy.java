package io.github.grpcidempotency.procedure;

/** What happens to a call with a key during an outage of the whole store. */
public enum OutagePolicy {
  /**
   * The handler runs without protection, and an event and a warning report this. There is an outage
   * only if no server accepts connections at the store's address. After any other failure, such as
   * a full pool, a timeout, contention, a cut connection, a missing right or a read-only database,
   * another call may own the key, and the call is refused with {@code UNAVAILABLE}.
   */
  FAIL_OPEN,
  /** The call is refused with {@code UNAVAILABLE}. */
  FAIL_CLOSED;

  static OutagePolicy of(Execution execution, KeyPolicy keyPolicy) {
    return execution == Execution.RESERVED && keyPolicy == KeyPolicy.OPTIONAL
        ? FAIL_OPEN
        : FAIL_CLOSED;
  }
}
