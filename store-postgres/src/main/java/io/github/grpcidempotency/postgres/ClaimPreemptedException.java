package io.github.grpcidempotency.postgres;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The claim that was sent with a handler's first statement was not won: another call has the key,
 * or has recorded an answer under it; or, seldom, the connection broke, or nothing can be written.
 * Thrown from that statement, and from every later use of the transaction, of a procedure that is
 * claimed {@link io.github.grpcidempotency.procedure.ClaimTiming#WITH_FIRST_STATEMENT with its
 * first statement}. Nothing of the handler remains, and whatever it answers is dropped: it should
 * just let this pass. It has no stack trace.
 */
public final class ClaimPreemptedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ClaimPreemptedException() {
    this(null);
  }

  /**
   * Makes the exception of the statement that the claim was sent with.
   *
   * @param cause what the driver threw
   */
  ClaimPreemptedException(@Nullable SQLException cause) {
    super(
        "the claim sent with this statement was not won, mostly because another call has the key or"
            + " has answered it; nothing of this handler remains, and what it answers is dropped",
        cause,
        false,
        false);
  }
}
