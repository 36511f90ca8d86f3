package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch.RowReader;
import io.github.grpcidempotency.store.spi.Claim.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction of the host that the store began, and that the same thread ends:
 *
 * <ol>
 *   <li>Check that the handler has not ended it.
 *   <li>Register the record for the moment before the commit. At that moment, the host has written
 *       everything that it had deferred, such as the resource that the record refers to.
 *   <li>Let the host commit. {@link HostOutcome} decides what the result means.
 * </ol>
 */
public final class HostedTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(HostedTransaction.class);

  private static final String NOT_ITS_OWNER =
      "a transaction of the host can be ended only by the thread that began it";

  private final RecordDatabase database;
  private final HostTransaction.Begun host;
  private final Thread owner = Thread.currentThread();
  private final AtomicBoolean over = new AtomicBoolean();

  /** The handler has returned to the transaction's thread. Guarded by this object's monitor. */
  private boolean returned;

  private final HostOutcome outcome;

  private HostedTransaction(
      RecordDatabase database, HostTransaction.Begun host, Connection connection) {
    super(connection);
    this.database = database;
    this.host = host;
    this.outcome = new HostOutcome(connection);
  }

  /** Begins a transaction on the current thread. */
  static HostedTransaction begin(RecordDatabase database, HostTransactions hosts, String name) {
    try {
      HostTransaction.Begun host = hosts.begin(name);
      boolean owned = false;
      try {
        Connection connection = host.connection();
        checkManaged(connection);
        HostedTransaction begun = new HostedTransaction(database, host, connection);
        host.afterCompletion(begun.outcome::ended);
        owned = true;
        return begun;
      } finally {
        if (!owned) {
          rollBack(host);
        }
      }
    } catch (RuntimeException failure) {
      throw Failures.ofBegin(failure);
    }
  }

  private static void checkManaged(Connection connection) {
    try {
      if (connection.getAutoCommit()) {
        throw new TransactionException(
            "the connection of the host's transaction is in autocommit mode: let the"
                + " HostTransactions use the data source that the host's transaction manager"
                + " manages");
      }
    } catch (SQLException failure) {
      throw new TransactionException(
          "could not use the connection of the host's transaction", failure);
    }
  }

  /** The host began the transaction already. */
  @Override
  void begun() {}

  @Override
  public boolean isTaken() {
    return super.isTaken() || outcome.mayBeUsed();
  }

  @Override
  public boolean wasSuspended() {
    return host.wasSuspended();
  }

  @Override
  Settled finish(String statements, UnaryOperator<Parameters> values, RowReader<Boolean> first) {
    return finish(Optional.of(() -> record(statements, values, first)));
  }

  @Override
  public Settled commit() {
    return finish(Optional.empty());
  }

  private Settled finish(Optional<Runnable> record) {
    endUse();
    checkThread();
    try {
      if (!guard.awaitUnused()) {
        throw FailedCommit.stillInUse();
      }
      Optional<Settled> ended = outcome.settledWithoutCommit(isRollbackOnly(), maySendNothing());
      return ended.isPresent() ? ended.get() : commit(record);
    } finally {
      rollBackUnlessOver();
    }
  }

  private Settled commit(Optional<Runnable> record) {
    Completion completion;
    try {
      record.ifPresent(host::beforeCommit);
      completion = host.commit();
      over.set(true);
    } catch (RuntimeException | Error failure) {
      return outcome.afterFailure(failure, record.isPresent());
    }
    return outcome.afterCommit(completion, record.isPresent());
  }

  private void record(
      String statements, UnaryOperator<Parameters> values, RowReader<Boolean> first) {
    try {
      outcome.recorded(StatementBatch.runForFirst(unguarded(), statements, values, first));
    } catch (JdbiException failure) {
      throw outcome.recordFailed(failure);
    }
  }

  @Override
  public void rollback() {
    close();
  }

  /**
   * Rolls back on the transaction's own thread, which the handler has left. On another thread, only
   * the connection is ended, and the transaction's thread must call this method, too.
   */
  @Override
  public void close() {
    setRollbackOnly();
    endUse();
    if (Thread.currentThread() == owner) {
      rollBackUnlessOver();
    }
  }

  @Override
  <T> T rollbackAnd(Function<Connection, T> work) {
    close();
    checkThread();
    return database.onConnection(work);
  }

  /**
   * Ends the handler's use. If another thread than the transaction's calls this method, or the
   * handler's threads are still using the connection, the connection is aborted, unless the host
   * has already been told to end the transaction: it may have given the connection to somebody
   * else.
   */
  private synchronized void endUse() {
    guard.end();
    if (Thread.currentThread() == owner) {
      returned = true;
    } else if (!returned) {
      abort();
    }
  }

  private void checkThread() {
    if (Thread.currentThread() != owner) {
      setRollbackOnly();
      throw new IllegalStateException(NOT_ITS_OWNER);
    }
  }

  private void rollBackUnlessOver() {
    if (!over.getAndSet(true)) {
      try {
        if (!guard.isUnused()) {
          abort();
        }
      } finally {
        rollBack(host);
      }
    }
  }

  private static void rollBack(HostTransaction.Begun host) {
    try {
      host.rollback();
    } catch (RuntimeException | Error broken) {
      logger.error(
          "the host's rollback has thrown an exception; HostTransaction.Begun.rollback"
              + " must not throw",
          broken);
    }
  }
}
