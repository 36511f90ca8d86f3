package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.internal.carry.LeadingStatements;
import io.github.grpcidempotency.postgres.internal.carry.StatementCarrier;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LastStatements;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool's connection with a transaction open on it. */
final class OpenTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

  /** The maximum time for which the end of a transaction waits for another thread's statement. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private final RecordDatabase database;
  private final AtomicBoolean givenBack = new AtomicBoolean();

  OpenTransaction(RecordDatabase database, Connection connection) {
    super(connection, database.settings().handles());
    this.database = database;
  }

  @Override
  void carry(LeadingStatements statements) {
    StatementCarrier carrier = StatementCarrier.on(unguarded());
    carrier.showAs(guard.proxy());
    carrier.carryFirst(statements);
    guard.use(carrier.proxy());
  }

  /** Tells the driver that a transaction is open. Sends nothing. */
  @Override
  void begun() {
    Driver.quietly("mark a transaction as open", () -> unguarded().setAutoCommit(false));
  }

  @Override
  void preempted(ClaimPreemptedException refusal) {
    guard.preempt(refusal);
    giveBack(false);
  }

  @Override
  Settled finish(LastStatements statements, UnaryOperator<Parameters> values) {
    guard.end();
    boolean committed = false;
    try {
      if (!guard.awaitUnused(MAX_WAIT)) {
        throw FailedCommit.stillInUse();
      }
      Driver.Transaction state =
          Driver.transactionOf(unguarded()).orElseThrow(FailedCommit::closed);
      if (state == Driver.Transaction.NONE) {
        throw endedEarly(statements, values);
      }
      if (isRollbackOnly()) {
        return Settled.ROLLED_BACK;
      }
      if (state == Driver.Transaction.FAILED) {
        return FailedCommit.failedStatement();
      }
      StatementBatch.run(unguarded(), statements.withCommit(), values);
      committed = true;
      return Settled.DONE;
    } catch (JdbiException failure) {
      return FailedCommit.settlementOf(failure);
    } finally {
      giveBack(committed);
    }
  }

  /**
   * Handles a transaction that the handler has ended itself. If the handler committed, every retry
   * would repeat its writes, so the answer is recorded now. If the handler rolled back, and the
   * answer refers to a resource that the handler created, the database refuses the record. Returns
   * the exception for the handler's mistake.
   */
  private TransactionMisuseException endedEarly(
      LastStatements statements, UnaryOperator<Parameters> values) {
    if (statements.afterwards().isEmpty() || isRollbackOnly()) {
      return FailedCommit.endedByHandler();
    }
    try {
      unguarded().setAutoCommit(true);
      StatementBatch.run(unguarded(), statements.afterwards(), values);
    } catch (JdbiException | SQLException unrecorded) {
      logger.error(
          "the handler has committed its transaction itself, and the answer could not be"
              + " recorded",
          unrecorded);
      return FailedCommit.endedByHandler();
    }
    return new TransactionMisuseException(
        "the handler has ended its transaction itself; its answer was recorded afterwards, so"
            + " that a retry does not run the handler again. Leave the end of the transaction to"
            + " the interceptor");
  }

  @Override
  public Settled commit() {
    return finish(LastStatements.NONE, values -> values);
  }

  @Override
  public void rollback() {
    guard.end();
    giveBack(false);
  }

  @Override
  <T> T rollbackAnd(Function<Connection, T> work) {
    guard.end();
    if (!stopStatement()) {
      giveBack(false);
      return database.onConnection(work);
    }
    try {
      unguarded().rollback();
      unguarded().setAutoCommit(true);
      return work.apply(unguarded());
    } catch (SQLException failure) {
      throw Failures.asJdbiException(failure);
    } finally {
      giveBack(false);
    }
  }

  /**
   * Rolls back unless the transaction is committed, and returns the connection to the pool once no
   * thread uses it and the driver reports no open transaction. Otherwise, the connection is aborted
   * and the pool replaces it: a late statement of the handler must not run within the next call
   * that gets the connection.
   */
  private void giveBack(boolean committed) {
    if (givenBack.getAndSet(true)) {
      return;
    }
    try (Connection connection = unguarded()) {
      boolean over = committed && !Driver.isKnownOpen(connection);
      if (!over && !(stopStatement() && rollBack(connection))) {
        Driver.abort(connection);
      }
    } catch (SQLException closed) {
      logger.debug("a connection was closed before it was returned to the pool", closed);
    }
  }

  /**
   * Cancels the running statement of another thread, if any. Returns whether no statement is
   * running afterwards.
   */
  private boolean stopStatement() {
    if (guard.awaitUnused(Duration.ZERO)) {
      return true;
    }
    Driver.cancel(unguarded());
    return guard.awaitUnused(MAX_WAIT);
  }

  /** Rolls back if a transaction is open. Returns whether none is known to be open afterwards. */
  private static boolean rollBack(Connection connection) {
    try {
      if (Driver.isKnownOpen(connection)) {
        connection.setAutoCommit(false);
        connection.rollback();
      }
      return !Driver.isKnownOpen(connection);
    } catch (SQLException unreachable) {
      logger.debug(
          "a transaction could not be rolled back; the connection is closed, so the"
              + " database rolls the transaction back",
          unreachable);
      return false;
    }
  }
}
