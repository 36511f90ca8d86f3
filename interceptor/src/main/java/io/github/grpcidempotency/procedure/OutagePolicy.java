package io.github.grpcidempotency.procedure;

/** What a keyed call gets while the store cannot be reached. */
public enum OutagePolicy {
  /**
   * The handler runs without idempotency and a warning is logged: an unreachable store disables
   * idempotency, not the API. Even so, a call never runs while another holder of its key is known.
   */
  FAIL_OPEN,
  /** The call is refused with {@code UNAVAILABLE}. */
  FAIL_CLOSED
}
