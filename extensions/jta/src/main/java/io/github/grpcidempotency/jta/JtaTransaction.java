package io.github.grpcidempotency.jta;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction that the store began on the thread. If the thread already had a transaction, that
 * one is suspended.
 */
final class JtaTransaction implements HostTransaction {
  private static final Logger logger = LoggerFactory.getLogger(JtaTransaction.class);

  private final JtaTransactions host;
  private final Transaction transaction;
  private final Connection connection;
  private final @Nullable Transaction suspended;
  private final @Nullable JtaTransaction outer;
  private boolean wasSuspended;
  private boolean over;

  JtaTransaction(
      JtaTransactions host,
      Transaction transaction,
      Connection connection,
      @Nullable Transaction suspended,
      @Nullable JtaTransaction outer) {
    this.host = host;
    this.transaction = transaction;
    this.connection = connection;
    this.suspended = suspended;
    this.outer = outer;
  }

  @Override
  public Connection connection() {
    return connection;
  }

  @Override
  public Completion commit(Runnable record) {
    try {
      switch (transaction.getStatus()) {
        case Status.STATUS_MARKED_ROLLBACK,
            Status.STATUS_ROLLING_BACK,
            Status.STATUS_ROLLEDBACK -> {
          return Completion.ROLLED_BACK;
        }
        default -> checkCurrent();
      }
      host.registry().registerInterposedSynchronization(new LastWork(record));
      host.manager().commit();
      return Completion.COMMITTED;
    } catch (HeuristicRollbackException failure) {
      return Completion.ROLLED_BACK;
    } catch (HeuristicMixedException | SystemException failure) {
      return Completion.UNKNOWN;
    } catch (RollbackException failure) {
      // A manager also reports a rollback if the answer to a one-phase commit was lost.
      throw new IllegalStateException("the transaction was not committed", failure);
    } finally {
      rollback();
    }
  }

  private void checkCurrent() throws SystemException {
    if (!isCurrent()) {
      throw new TransactionMisuseException(
          "the handler has ended its transaction, or has left another transaction open: leave the"
              + " end of the call's transaction to the interceptor, which commits it after the"
              + " handler has returned");
    }
  }

  @Override
  public void rollback() {
    if (!over) {
      over = true;
      abandon();
      host.leave(suspended, outer);
    }
  }

  /**
   * Rolls back what is open, on the thread of the transaction, because a data source may find its
   * transaction by the thread only.
   */
  private void abandon() {
    try {
      if (!isCurrent() && isOpen()) {
        host.clear();
        resumeOrAbort();
      }
      close();
    } catch (SystemException | SQLException | RuntimeException | Error failure) {
      logger.debug(
          "could not roll the transaction back; the transaction manager rolls it back"
              + " after the transaction's timeout",
          failure);
    }
  }

  /**
   * A transaction that the thread cannot resume would keep its locks until its timeout, so the
   * connection is ended. A rollback without it is no way out: Agroal commits then.
   */
  private void resumeOrAbort() throws SystemException, SQLException {
    try {
      host.manager().resume(transaction);
    } catch (InvalidTransactionException | SystemException | RuntimeException | Error refused) {
      logger.debug("the connection of a transaction is ended, because its thread lost it", refused);
      connection.abort(Runnable::run);
      transaction.rollback();
    }
  }

  /** Closes the connection; the data source keeps the real one until the transaction ends. */
  private void close() {
    try {
      connection.close();
    } catch (SQLException ignored) {
      logger.debug("the data source releases the connection at the transaction's end", ignored);
    }
  }

  private boolean isCurrent() throws SystemException {
    return transaction.equals(host.manager().getTransaction());
  }

  private boolean isOpen() throws SystemException {
    return switch (transaction.getStatus()) {
      case Status.STATUS_ACTIVE, Status.STATUS_MARKED_ROLLBACK -> true;
      default -> false;
    };
  }

  @Override
  public boolean wasSuspended() {
    return wasSuspended;
  }

  void suspended() {
    wasSuspended = true;
  }

  /**
   * Registers itself a second time at the beginning of the commit, so that it runs after everything
   * that was registered before.
   */
  private final class LastWork implements Synchronization {
    private final Runnable record;
    private boolean isLast;

    LastWork(Runnable record) {
      this.record = record;
    }

    @Override
    public void beforeCompletion() {
      if (!isLast) {
        isLast = true;
        host.registry().registerInterposedSynchronization(this);
        return;
      }
      try {
        record.run();
      } finally {
        close();
      }
    }

    @Override
    public void afterCompletion(int status) {
      // The commit returns how the transaction has ended.
    }
  }
}
