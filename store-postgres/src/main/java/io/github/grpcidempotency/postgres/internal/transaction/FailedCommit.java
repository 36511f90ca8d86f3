package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.SQLException;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reasons why a handler's transaction cannot be committed. */
final class FailedCommit {
  private static final Logger logger = LoggerFactory.getLogger(FailedCommit.class);

  private FailedCommit() {}

  /** Returns the meaning of failed last statements: nothing remains, or the outcome is unknown. */
  static Settled settlementOf(JdbiException failure) {
    if (Failures.isTransactionEnded(failure)) {
      throw endedByHandler();
    }
    if (Failures.isOfFailedTransaction(failure)) {
      logger.warn(
          "the handler answered OK although a statement of its transaction had failed: the"
              + " transaction was rolled back. Answer with an error, or use a savepoint around a"
              + " statement that may fail");
      return Settled.ROLLED_BACK;
    }
    if (Failures.isLostRace(failure)) {
      return Settled.LOST;
    }
    if (Failures.violatesRowSecurity(failure)) {
      logger.error(
          "the record of the answer was refused, so its transaction was rolled back", failure);
      throw endedByHandler();
    }
    if (Failures.causeOf(failure) == FailureCause.READ_ONLY) {
      throw forbidden(failure); // the transaction was not read-only when it claimed
    }
    if (Failures.causeOf(failure) != FailureCause.OTHER) {
      throw Failures.of("could not commit the transaction", failure);
    }
    logger.error("the transaction could not be committed and was rolled back", failure);
    return Settled.ROLLED_BACK;
  }

  /**
   * Returns the exception for a handler that has ended its transaction. The setting of the user
   * ends with the transaction, and without a user no record can be written.
   */
  static TransactionMisuseException endedByHandler() {
    return new TransactionMisuseException(
        "the handler has ended its transaction, or has changed app.current_user_id: what the"
            + " handler committed has no record. Leave the end of the transaction to the"
            + " interceptor, and do not set app.current_user_id");
  }

  /** Returns the exception for a handler that has taken the right to write from its transaction. */
  static TransactionMisuseException forbidden(RuntimeException failure) {
    logger.error(
        "the record of the answer was refused, so its transaction was rolled back", failure);
    return new TransactionMisuseException(
        "the record of the answer may not be written in the handler's transaction, which was rolled"
            + " back: the handler has changed the role, the access mode or row_security of its"
            + " transaction, for example with SET LOCAL ROLE. Restore what the handler has changed"
            + " before it answers");
  }

  /** Returns the exception for a handler whose threads, or whose COPY, go on after its answer. */
  static TransactionMisuseException stillInUse() {
    return new TransactionMisuseException(
        "the handler answered OK while another thread, or a COPY, was still using its transaction:"
            + " the transaction was rolled back. Let the handler wait for its threads, and end its"
            + " COPY, before it answers");
  }

  /** Returns the exception that the next statement of the transaction would get. */
  static JdbiException failedStatement() {
    return Failures.asJdbiException(
        new SQLException("a statement of the transaction has failed", Failures.FAILED_TRANSACTION));
  }

  static StoreException closed() {
    return StoreException.of(
        FailurePhase.HANDLER_DONE,
        FailureCause.CONNECTION_LOST,
        "the transaction's connection is closed");
  }
}
