package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch.RowReader;
import io.github.grpcidempotency.spi.Claim.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool's connection with a transaction open on it. The connection is given back only if no thread
 * can be using it: the handler's use has ended, and no thread is in a call that began earlier.
 * Otherwise it is aborted, and its pool, which gets a closed connection, replaces it.
 */
final class OpenTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

  private final RecordDatabase database;
  private final AtomicBoolean over = new AtomicBoolean();

  /** Opens a transaction on a connection of the pool. */
  static OpenTransaction on(RecordDatabase database) {
    Connection connection = database.connect();
    boolean owned = false;
    try {
      OpenTransaction opened = new OpenTransaction(database, connection);
      owned = true;
      return opened;
    } finally {
      if (!owned) {
        close(connection);
      }
    }
  }

  private OpenTransaction(RecordDatabase database, Connection connection) {
    super(connection);
    this.database = database;
  }

  /** Tells the driver that a transaction is open. Sends nothing. */
  @Override
  void begun() {
    Driver.quietly("mark a transaction as open", () -> unguarded().setAutoCommit(false));
  }

  @Override
  Settled finish(String statements, UnaryOperator<Parameters> values, RowReader<Boolean> first) {
    return finish(
        () -> {
          StatementBatch.runForFirst(unguarded(), statements, values, first);
        });
  }

  @Override
  public Settled commit() {
    return finish(() -> StatementBatch.run(unguarded(), "COMMIT", values -> values));
  }

  private Settled finish(Runnable commit) {
    guard.end();
    boolean committed = false;
    try {
      if (!guard.awaitUnused()) {
        throw FailedCommit.stillInUse();
      }
      Driver.Transaction state =
          Driver.transactionOf(unguarded()).orElseThrow(FailedCommit::closed);
      if (state == Driver.Transaction.NONE && !maySendNothing()) {
        throw FailedCommit.endedByHandler();
      }
      if (isRollbackOnly()) {
        return Settled.ROLLED_BACK;
      }
      if (state == Driver.Transaction.FAILED) {
        throw FailedCommit.failedStatement();
      }
      commit.run();
      committed = true;
      return Settled.DONE;
    } catch (JdbiException failure) {
      return FailedCommit.settlementOf(failure);
    } finally {
      giveBack(committed);
    }
  }

  @Override
  public void rollback() {
    guard.end();
    giveBack(false);
  }

  @Override
  public void close() {
    guard.end();
    if (!isTaken()) {
      giveBack(false);
    } else if (!over.getAndSet(true)) {
      abort();
      close(unguarded());
    }
  }

  @Override
  <T> T rollbackAnd(Function<Connection, T> work) {
    guard.end();
    if (over.get() || !guard.isUnused()) {
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

  private void giveBack(boolean committed) {
    if (over.getAndSet(true)) {
      return;
    }
    if (!guard.isUnused() || !(committed || rollBack())) {
      abort();
    }
    close(unguarded());
  }

  private static void close(Connection connection) {
    Driver.quietly("return a connection to the store's pool", connection::close);
  }

  /** Rolls back what has begun. Returns whether nothing remains. Never throws. */
  private boolean rollBack() {
    try {
      if (!unguarded().getAutoCommit()) {
        unguarded().rollback();
      }
      return true;
    } catch (SQLException | RuntimeException | Error unreachable) {
      logger.debug(
          "a transaction could not be rolled back; the connection is closed, so the"
              + " database rolls the transaction back",
          unreachable);
      return false;
    }
  }
}
