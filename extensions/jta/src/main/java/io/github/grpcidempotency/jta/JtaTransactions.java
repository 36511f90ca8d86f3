package io.github.grpcidempotency.jta;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.NotSupportedException;
import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uses the transactions of a Jakarta transaction manager for claims. Every {@code @Transactional}
 * bean that a handler calls joins them.
 *
 * <p>The record is written in an interposed synchronization that is registered at the beginning of
 * the commit. So it runs after all synchronizations that were registered during the transaction,
 * such as the flush of a persistence provider. Only synchronizations that the registry itself puts
 * last run later.
 *
 * <p>If a transaction runs longer than its timeout, the manager rolls it back: the answer is not
 * recorded, and a retry runs the handler again. JTA transactions have no name, so the store's name
 * for a transaction is not used.
 *
 * <p>JTA does not report that a transaction is suspended. If the host reports that a transaction
 * begins, as Quarkus does, call {@link #transactionBegan}. Writes of a handler in {@code
 * REQUIRES_NEW} are then reported as unprotected. Writes in {@code NOT_SUPPORTED} are not reported.
 *
 * <p>Thread-safe.
 */
public final class JtaTransactions implements HostTransactions {
  private static final Logger logger = LoggerFactory.getLogger(JtaTransactions.class);

  private static final ThreadLocal<@Nullable JtaTransaction> begun = new ThreadLocal<>();

  private final TransactionManager manager;
  private final TransactionSynchronizationRegistry registry;
  private final DataSource dataSource;

  private JtaTransactions(
      TransactionManager manager,
      TransactionSynchronizationRegistry registry,
      DataSource dataSource) {
    this.manager = manager;
    this.registry = registry;
    this.dataSource = dataSource;
  }

  /**
   * Returns the transactions of a manager.
   *
   * @param manager begins and ends transactions
   * @param registry registers synchronizations of the manager's transactions
   * @param dataSource the data source that handlers write through. It enlists its connections in
   *     the manager's transactions, and returns the same connection to every caller within a
   *     transaction, as Agroal does.
   */
  public static JtaTransactions of(
      TransactionManager manager,
      TransactionSynchronizationRegistry registry,
      DataSource dataSource) {
    return new JtaTransactions(manager, registry, dataSource);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the manager cannot begin one, or the data source fails
   */
  @Override
  public HostTransaction begin(String name) {
    Transaction suspended = suspend();
    JtaTransaction outer = begun.get();
    // The claim's own transaction must not be reported to an outer claim.
    begun.remove();
    boolean owned = false;
    try {
      manager.begin();
      JtaTransaction transaction =
          new JtaTransaction(
              this, manager.getTransaction(), dataSource.getConnection(), suspended, outer);
      begun.set(transaction);
      owned = true;
      return transaction;
    } catch (NotSupportedException | SystemException | SQLException failure) {
      throw new IllegalStateException("could not begin a transaction", failure);
    } finally {
      if (!owned) {
        leave(suspended, outer);
      }
    }
  }

  @Override
  public boolean isActive() {
    try {
      return switch (manager.getStatus()) {
        case Status.STATUS_ACTIVE, Status.STATUS_MARKED_ROLLBACK -> true;
        default -> false;
      };
    } catch (SystemException failure) {
      throw new IllegalStateException("could not read the transaction of the thread", failure);
    }
  }

  @Override
  public void setRollbackOnly() {
    try {
      manager.setRollbackOnly();
    } catch (SystemException failure) {
      throw new IllegalStateException("could not mark a transaction for rollback", failure);
    }
  }

  /**
   * Reports that the current thread has begun a transaction. Call this method from the host's
   * notification. If the new transaction suspends the transaction of a claim, the claim reports
   * this when it is settled.
   */
  public static void transactionBegan() {
    JtaTransaction transaction = begun.get();
    if (transaction != null) {
      transaction.suspended();
    }
  }

  TransactionManager manager() {
    return manager;
  }

  TransactionSynchronizationRegistry registry() {
    return registry;
  }

  /**
   * Detaches the current transaction from the thread, and resumes the suspended one. Never throws.
   */
  void leave(@Nullable Transaction suspended, @Nullable JtaTransaction outer) {
    begun.set(outer);
    clear();
    try {
      if (suspended != null) {
        manager.resume(suspended);
      }
    } catch (InvalidTransactionException | SystemException | RuntimeException | Error failure) {
      logger.warn("could not resume the suspended transaction", failure);
    }
  }

  /** Rolls back a transaction that a handler has left open on the thread. Never throws. */
  void clear() {
    try {
      if (manager.getTransaction() != null) {
        manager.rollback();
      }
    } catch (SystemException | RuntimeException | Error failure) {
      logger.debug(
          "could not roll the transaction back; the transaction manager rolls it back"
              + " after the transaction's timeout",
          failure);
    }
  }

  private @Nullable Transaction suspend() {
    try {
      return manager.suspend();
    } catch (SystemException failure) {
      throw new IllegalStateException("could not suspend the thread's transaction", failure);
    }
  }
}
