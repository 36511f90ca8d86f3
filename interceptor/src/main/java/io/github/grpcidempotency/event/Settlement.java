package io.github.grpcidempotency.event;

/** What happens to a key after its handler has ended. */
public enum Settlement {
  /** Record the response; retries get the same response. */
  COMPLETE,
  /** Record the error; retries get the same error. */
  COMPLETE_WITH_ERROR,
  /** Delete the reservation; a retry runs the handler again. */
  RELEASE,
  /** Keep the reservation until its lease ends: the effect may have happened. */
  MARK_UNKNOWN
}
