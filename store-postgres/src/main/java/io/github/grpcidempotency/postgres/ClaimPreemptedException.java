package io.github.grpcidempotency.postgres;

import java.sql.SQLException;

/**
 * The claim that was sent with a handler's first statement was not won. Usually another call holds
 * the key or has recorded an answer for the key. Rarely, the connection broke, or the database is
 * read-only. Only procedures that claim {@link
 * io.github.grpcidempotency.procedure.ClaimTiming#WITH_FIRST_STATEMENT with their first statement}
 * throw this exception: from that statement, and from every later use of the transaction. The
 * handler's writes are rolled back, and its response is discarded. Rethrow this exception
 * unchanged: it does not indicate a failure. It has no stack trace.
 */
public final class ClaimPreemptedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception for the statement that the claim was sent with.
   *
   * @param cause the driver's exception
   */
  ClaimPreemptedException(SQLException cause) {
    super(
        "the claim that was sent with this statement was not won, usually because another"
            + " call holds or has completed the key: the handler's writes are rolled back and its"
            + " response is discarded. Rethrow this exception unchanged",
        cause,
        false,
        false);
  }
}
