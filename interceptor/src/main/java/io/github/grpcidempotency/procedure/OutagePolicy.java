package io.github.grpcidempotency.procedure;

/** What a keyed call gets during an outage of the store. */
public enum OutagePolicy {
  /**
   * The handler runs without idempotency, and that is heard: an outage of the store as a whole
   * disables idempotency, not the API. It covers a store to which no connection can be made, and
   * one that is broken for everybody (read-only, disk full, a right or a table missing) and shows
   * no record of the key. It never covers a full pool, a timeout, contention or a cut connection,
   * for whoever holds the key may be well; then the call is refused with {@code UNAVAILABLE}.
   */
  FAIL_OPEN,
  /** The call is refused with {@code UNAVAILABLE}. */
  FAIL_CLOSED;

  /** Returns what a procedure gets that says nothing. */
  static OutagePolicy of(Execution execution) {
    return switch (execution) {
      case RESERVED -> FAIL_OPEN;
      case RESERVED_SAME_DATABASE, TRANSACTIONAL -> FAIL_CLOSED;
    };
  }
}
