package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of how a transaction of the host ends, and what that means for its call. The
 * record's own failure counts first, whatever the host has made of it; then what the host says; and
 * if the host throws, what the database has said.
 *
 * <p>The host may be heard, and the use be asked for, on any thread. All else is for the
 * transaction's own.
 */
final class HostOutcome {
  private static final Logger logger = LoggerFactory.getLogger(HostOutcome.class);

  private final Connection connection;
  private volatile Optional<Completion> heard = Optional.empty();
  private volatile Optional<Boolean> used = Optional.empty();
  private Optional<RuntimeException> flushFailure = Optional.empty();
  private Optional<RuntimeException> recordFailure = Optional.empty();

  HostOutcome(Connection connection) {
    this.connection = connection;
  }

  /** The host has said how it ended. */
  void heard(Completion completion) {
    heard = Optional.of(completion);
  }

  /** What the host had held back could not be written. */
  void flushFailed(RuntimeException failure) {
    flushFailure = Optional.of(failure);
  }

  /**
   * The record is written.
   *
   * @param handlerUsedIt whether the handler has used the transaction
   */
  void recorded(boolean handlerUsedIt) {
    used = Optional.of(handlerUsedIt);
  }

  /** The record could not be written. Returns what the host is to get. */
  RuntimeException recordFailed(JdbiException failure) {
    boolean ended = Refusal.of(failure).filter(Refusal.TRANSACTION_ENDED::equals).isPresent();
    RuntimeException meant = ended ? HandlerTransaction.endedByHandler() : failure;
    recordFailure = Optional.of(meant);
    return meant;
  }

  /**
   * Returns whether the handler may have used the transaction. The record's flush knows it. Of a
   * call that fails nobody does: its handler may have written what the host still holds back.
   */
  boolean mayBeUsed() {
    return used.orElse(true);
  }

  /**
   * Returns how it has ended if it cannot be committed any more.
   *
   * @param rollbackOnly whether it is not to be committed
   */
  Optional<Settled> beforeCommit(boolean rollbackOnly) {
    if (heard.isPresent()) {
      if (heard.get() != Completion.ROLLED_BACK) {
        throw HandlerTransaction.endedByHandler();
      }
      logger.warn("the host rolled the transaction back before its handler had ended");
      return Optional.of(Settled.ROLLED_BACK);
    }
    checkOpen();
    Optional<TransactionState> state = DriverState.of(connection);
    if (state.filter(TransactionState.IDLE::equals).isPresent()) {
      throw HandlerTransaction.endedByHandler();
    }
    if (flushFailure.isPresent()) {
      return Optional.of(afterFailure(flushFailure.get(), false));
    }
    if (rollbackOnly) {
      return Optional.of(Settled.ROLLED_BACK);
    }
    return state
        .filter(TransactionState.FAILED::equals)
        .map(failed -> HandlerTransaction.failedInHandler());
  }

  /** Returns what it means that the host's commit has returned. */
  Settled afterCommit(Completion completion, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return afterRecordFailure(recordFailure.get());
    }
    return switch (completion) {
      case COMMITTED -> committed(mustRecord);
      case ROLLED_BACK -> {
        logger.warn("the host rolled the transaction back: somebody has set it to rollback-only");
        yield Settled.ROLLED_BACK;
      }
      case UNKNOWN -> throw unknown(null);
    };
  }

  /** Returns what it means that the host's commit has thrown. */
  Settled afterFailure(RuntimeException failure, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return afterRecordFailure(recordFailure.get());
    }
    if (heard.filter(Completion.COMMITTED::equals).isPresent()) {
      logger.warn("the transaction is committed, but the host has failed after that", failure);
      return committed(mustRecord);
    }
    JdbiException known = Failures.ofCommit(failure);
    if (Failures.isCutOff(known)) {
      throw Failures.of("could not commit the transaction", known);
    }
    if (Failures.isLostRace(known)) {
      return Settled.LOST;
    }
    if (!Failures.isAnswered(known) && heard.filter(Completion.UNKNOWN::equals).isPresent()) {
      throw unknown(failure);
    }
    logger.error("the transaction could not be committed", failure);
    return Settled.ROLLED_BACK;
  }

  private Settled committed(boolean mustRecord) {
    if (mustRecord && used.isEmpty()) {
      TransactionMisuseException unrecorded =
          new TransactionMisuseException(
              "the host has committed without running what was registered before the commit; what"
                  + " the handler wrote has no record: its HostTransactions are at fault");
      logger.error("a call has lost its protection", unrecorded);
      throw unrecorded;
    }
    return Settled.DONE;
  }

  private static Settled afterRecordFailure(RuntimeException failure) {
    if (failure instanceof JdbiException ofDatabase) {
      return HandlerTransaction.onFailure(ofDatabase);
    }
    throw failure;
  }

  private static StoreException unknown(@Nullable Throwable cause) {
    return new StoreException(
        "the host does not know whether it has committed the transaction",
        cause,
        FailurePhase.HANDLER_DONE,
        FailureCause.CONNECTION_LOST);
  }

  private void checkOpen() {
    try {
      if (connection.isClosed()) {
        throw HandlerTransaction.closed(null);
      }
    } catch (SQLException hidden) {
      logger.debug("the host's connection does not tell whether it is closed", hidden);
    }
  }
}
