package io.github.grpcidempotency.procedure;

/** When the key of a {@link Execution#TRANSACTIONAL} call is claimed. */
public enum ClaimTiming {
  /**
   * Before the handler runs, in a separate round trip. A duplicate never starts a handler. The
   * default.
   */
  BEFORE_HANDLER,

  /**
   * When the handler has answered, together with its commit, so that the claim needs no round trip.
   * The record itself is the claim. A duplicate that is not marked as a retry may run its handler
   * as well; its transaction is then rolled back, and the call gets the answer that was recorded.
   * For handlers whose effects are all in their transaction, and which do not need {@code
   * app.current_user_id}.
   */
  AT_COMMIT
}
