package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.CommitRefusal;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.spi.Claim.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects how a transaction of the host ends, and decides how the call is settled. A failure to
 * write the record decides first, even if the host reports something else; then the completion that
 * the host reports; and if the host throws, the error of the database.
 *
 * <p>The host may report the completion on any thread, and any thread may call {@link #mayBeUsed}.
 * All other methods are for the transaction's thread.
 */
final class HostOutcome {
  private static final Logger logger = LoggerFactory.getLogger(HostOutcome.class);

  private final Connection connection;
  private volatile Optional<Completion> ended = Optional.empty();
  private volatile Optional<Boolean> used = Optional.empty();
  private Optional<RuntimeException> recordFailure = Optional.empty();

  HostOutcome(Connection connection) {
    this.connection = connection;
  }

  void ended(Completion completion) {
    ended = Optional.of(completion);
  }

  /** The record was written. Its statements have found out whether the handler has written. */
  void recorded(boolean handlerUsedIt) {
    used = Optional.of(handlerUsedIt);
  }

  /** The record could not be written. Returns the exception for the host. */
  RuntimeException recordFailed(JdbiException failure) {
    RuntimeException meant =
        CommitRefusal.TRANSACTION_ENDED.isReasonOf(failure)
            ? FailedCommit.endedByHandler()
            : failure;
    recordFailure = Optional.of(meant);
    return meant;
  }

  /**
   * Returns whether the handler may have used the transaction. The flush that writes the record
   * finds this out. If the call fails, nothing is recorded and the result is true: the host may
   * have deferred the handler's writes.
   */
  boolean mayBeUsed() {
    return used.orElse(true);
  }

  /** Returns the settlement if the transaction cannot be committed any more; otherwise empty. */
  Optional<Settled> settledWithoutCommit(boolean rollbackOnly, boolean maySendNothing) {
    if (ended.isPresent()) {
      if (ended.get() != Completion.ROLLED_BACK) {
        throw FailedCommit.endedByHandler();
      }
      logger.warn(
          "the host's transaction manager rolled the transaction back before the handler"
              + " returned, for example after a timeout");
      return Optional.of(Settled.ROLLED_BACK);
    }
    checkOpen();
    Optional<Driver.Transaction> state = Driver.transactionOf(connection);
    if (!maySendNothing && state.filter(Driver.Transaction.NONE::equals).isPresent()) {
      throw FailedCommit.endedByHandler();
    }
    if (rollbackOnly) {
      return Optional.of(Settled.ROLLED_BACK);
    }
    return state
        .filter(Driver.Transaction.FAILED::equals)
        .map(failed -> FailedCommit.failedStatement());
  }

  Settled afterCommit(Completion completion, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return afterRecordFailure(recordFailure.get());
    }
    return switch (completion) {
      case COMMITTED -> committed(mustRecord);
      case ROLLED_BACK -> {
        logger.warn(
            "the host's transaction manager rolled the transaction back instead of"
                + " committing it, because the transaction was marked for rollback");
        yield Settled.ROLLED_BACK;
      }
      case UNKNOWN -> throw unknown(null);
    };
  }

  Settled afterFailure(Throwable failure, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return afterRecordFailure(recordFailure.get());
    }
    if (ended.filter(Completion.COMMITTED::equals).isPresent()) {
      logger.warn(
          "the transaction was committed, but the host's transaction manager failed after"
              + " the commit",
          failure);
      return committed(mustRecord);
    }
    JdbiException known = Failures.ofCommit(failure);
    if (Failures.isCutOff(known)) {
      throw Failures.of("could not commit the transaction", known);
    }
    if (Failures.isLostRace(known)) {
      return Settled.LOST;
    }
    if (!Failures.isAnswered(known) && ended.filter(Completion.UNKNOWN::equals).isPresent()) {
      throw unknown(failure);
    }
    logger.error("the transaction could not be committed and was rolled back", failure);
    return Settled.ROLLED_BACK;
  }

  private Settled committed(boolean mustRecord) {
    if (mustRecord && used.isEmpty()) {
      TransactionMisuseException unrecorded =
          new TransactionMisuseException(
              "the host's transaction manager has committed without running the work that was"
                  + " registered before the commit, so the handler's writes have no record: correct"
                  + " the HostTransactions implementation");
      logger.error(
          "the writes of a call were committed without a record, so a retry may run the"
              + " handler again",
          unrecorded);
      throw unrecorded;
    }
    return Settled.DONE;
  }

  private static Settled afterRecordFailure(RuntimeException failure) {
    if (failure instanceof JdbiException ofDatabase) {
      return FailedCommit.settlementOf(ofDatabase);
    }
    throw failure;
  }

  private static StoreException unknown(@Nullable Throwable cause) {
    return StoreException.of(
            FailurePhase.HANDLER_DONE,
            FailureCause.CONNECTION_LOST,
            "the host's transaction manager does not know whether the transaction was committed")
        .initCause(cause);
  }

  private void checkOpen() {
    try {
      if (connection.isClosed()) {
        throw FailedCommit.closed();
      }
    } catch (SQLException hidden) {
      logger.debug(
          "the connection of the host's transaction does not report whether it is closed", hidden);
    }
  }
}
