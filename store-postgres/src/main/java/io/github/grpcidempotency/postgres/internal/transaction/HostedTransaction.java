package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch.RowReader;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.spi.Claim.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.transaction.TransactionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction of the host that the store began, and that the same thread ends: the host flushes,
 * runs the {@link LastWork}, commits, and returns how the transaction ended. The last work runs
 * only if the transaction is still open, so it finds out whether the handler has misused it.
 */
public final class HostedTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(HostedTransaction.class);

  private static final String NOT_ITS_OWNER =
      "a transaction of the host can be ended only by the thread that began it";

  private final RecordDatabase database;
  private final HostTransaction host;
  private final Thread owner = Thread.currentThread();

  /** The handler has returned to the transaction's thread. Guarded by this object's monitor. */
  private boolean returned;

  /**
   * Whether the handler may have used the transaction. The flush that writes the record finds this
   * out. If the call fails, nothing is recorded: the host may have deferred the handler's writes.
   */
  private volatile boolean mayBeUsed = true;

  private HostedTransaction(RecordDatabase database, HostTransaction host, Connection connection) {
    super(connection);
    this.database = database;
    this.host = host;
  }

  /** Begins a transaction on the current thread. */
  static HostedTransaction begin(RecordDatabase database, HostTransactions hosts, String name) {
    try {
      HostTransaction host = hosts.begin(name);
      boolean owned = false;
      try {
        Connection connection = host.connection();
        checkManaged(connection);
        HostedTransaction begun = new HostedTransaction(database, host, connection);
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
    return super.isTaken() || mayBeUsed;
  }

  @Override
  public boolean wasSuspended() {
    return host.wasSuspended();
  }

  @Override
  Settled finish(String statements, UnaryOperator<Parameters> values, RowReader<Boolean> first) {
    return finish(
        () -> {
          checkOpen();
          mayBeUsed = StatementBatch.runForFirst(unguarded(), statements, values, first);
        });
  }

  @Override
  public Settled commit() {
    return finish(this::checkOpen);
  }

  private Settled finish(Runnable work) {
    endUse();
    checkThread();
    try {
      if (!guard.awaitUnused()) {
        abort();
        throw FailedCommit.stillInUse();
      }
      return isRollbackOnly() ? Settled.ROLLED_BACK : commit(new LastWork(work));
    } finally {
      rollBack(host);
    }
  }

  private Settled commit(LastWork last) {
    Completion completion;
    try {
      completion = host.commit(last);
    } catch (RuntimeException | Error failure) {
      return last.settlementOf(failure);
    }
    return last.settlementOf(completion);
  }

  /** Throws what only the driver knows about a transaction that the handler should have left. */
  private void checkOpen() {
    try {
      if (unguarded().isClosed()) {
        throw FailedCommit.closed();
      }
    } catch (SQLException hidden) {
      logger.debug(
          "the connection of the host's transaction does not report whether it is closed", hidden);
    }
    Optional<Driver.Transaction> state = Driver.transactionOf(unguarded());
    if (!maySendNothing() && state.filter(Driver.Transaction.NONE::equals).isPresent()) {
      throw FailedCommit.endedByHandler();
    }
    if (state.filter(Driver.Transaction.FAILED::equals).isPresent()) {
      throw FailedCommit.failedStatement();
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
    boolean first = endUse();
    if (Thread.currentThread() == owner) {
      try {
        if (first && !guard.isUnused()) {
          abort();
        }
      } finally {
        rollBack(host);
      }
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
   * else. Returns whether it has not been told yet.
   */
  private synchronized boolean endUse() {
    guard.end();
    boolean first = !returned;
    if (Thread.currentThread() == owner) {
      returned = true;
    } else if (first) {
      abort();
    }
    return first;
  }

  private void checkThread() {
    if (Thread.currentThread() != owner) {
      setRollbackOnly();
      throw new IllegalStateException(NOT_ITS_OWNER);
    }
  }

  private static void rollBack(HostTransaction host) {
    try {
      host.rollback();
    } catch (RuntimeException | Error broken) {
      logger.error(
          "the host's rollback has thrown an exception; HostTransaction.rollback"
              + " must not throw",
          broken);
    }
  }
}
