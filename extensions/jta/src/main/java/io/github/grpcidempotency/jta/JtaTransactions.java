package io.github.grpcidempotency.jta;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.IdempotencyDataSource;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.NotSupportedException;
import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets claims be transactions of a Jakarta transaction manager, which every {@code @Transactional}
 * bean joins that a handler calls.
 *
 * <p>The record is written in an interposed synchronization, which registers itself once more when
 * the commit begins: so it comes after all that others have registered during the transaction, a
 * persistence provider's flush above all. (Only what the registry itself puts last comes later.)
 *
 * <p>A manager rolls a transaction back that runs longer than its timeout, and the call with it: an
 * answer that took longer is not recorded, and its retry runs again. The name that the store gives
 * a transaction is lost, as JTA has none.
 *
 * <p>JTA tells nobody that a transaction is suspended. Where the host tells that one begins, as
 * Quarkus does, pass it on to {@link #transactionBegan}; then what a handler does in {@code
 * REQUIRES_NEW} is heard as unprotected. What it does in {@code NOT_SUPPORTED} is not.
 *
 * <p>Thread-safe.
 */
public final class JtaTransactions implements HostTransactions {
  private static final Logger logger = LoggerFactory.getLogger(JtaTransactions.class);

  private static final ThreadLocal<@Nullable BegunTransaction> begun = new ThreadLocal<>();

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
   * @param dataSource enlists its connections in the manager's transactions, and gives one and the
   *     same to all who ask within a transaction, as Agroal does; the one that handlers write
   *     through
   * @throws IllegalArgumentException if the data source is an {@code IdempotencyDataSource}: it
   *     wraps anew for each who asks, so that what it carries would not go with a handler's
   *     statement
   */
  public static JtaTransactions of(
      TransactionManager manager,
      TransactionSynchronizationRegistry registry,
      DataSource dataSource) {
    if (carries(dataSource)) {
      throw new IllegalArgumentException(
          "an IdempotencyDataSource carries nothing in transactions of JTA, where everybody who"
              + " asks is given a connection of his own: give its pool to the host, and let the"
              + " procedures claim BEFORE_HANDLER");
    }
    return new JtaTransactions(manager, registry, dataSource);
  }

  private static boolean carries(DataSource dataSource) {
    try {
      return dataSource.isWrapperFor(IdempotencyDataSource.class);
    } catch (SQLException untold) {
      logger.debug("a data source does not tell what it wraps", untold);
      return false;
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the manager cannot begin one
   */
  @Override
  public HostTransaction.Begun begin(String name) {
    Transaction suspended = suspend();
    BegunTransaction outer = begun.get();
    // Its own beginning is no news to the claim around it.
    begun.remove();
    try {
      manager.begin();
      BegunTransaction transaction =
          new BegunTransaction(this, manager.getTransaction(), join(), suspended, outer);
      begun.set(transaction);
      return transaction;
    } catch (NotSupportedException | SystemException | RuntimeException failure) {
      leave(suspended, outer);
      throw new IllegalStateException("could not begin a transaction", failure);
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the manager fails
   */
  @Override
  public Optional<HostTransaction> current() {
    return switch (status()) {
      case Status.STATUS_ACTIVE, Status.STATUS_MARKED_ROLLBACK -> Optional.of(join());
      default -> Optional.empty();
    };
  }

  /**
   * Tells that the current thread has begun a transaction. Call it from whatever the host offers to
   * hear of that. The claim that it suspends, if there is one, reports it when it is settled.
   */
  public static void transactionBegan() {
    BegunTransaction transaction = begun.get();
    if (transaction != null) {
      transaction.suspended();
    }
  }

  TransactionManager manager() {
    return manager;
  }

  /** Frees the thread of what is on it, and brings back what was there before. Never throws. */
  void leave(@Nullable Transaction suspended, @Nullable BegunTransaction outer) {
    begun.set(outer);
    clear();
    try {
      if (suspended != null) {
        manager.resume(suspended);
      }
    } catch (InvalidTransactionException | SystemException | RuntimeException failure) {
      logger.warn("could not resume the suspended transaction", failure);
    }
  }

  /** Rolls back what a handler has left open on the thread. */
  void clear() {
    try {
      if (manager.getTransaction() != null) {
        manager.rollback();
      }
    } catch (SystemException | RuntimeException failure) {
      logger.debug("could not roll back; the transaction's timeout will", failure);
    }
  }

  private JtaTransaction join() {
    if (registry.getResource(this) instanceof JtaTransaction known) {
      return known;
    }
    JtaTransaction joined = new JtaTransaction(registry, dataSource);
    registry.putResource(this, joined);
    return joined;
  }

  private @Nullable Transaction suspend() {
    try {
      return manager.suspend();
    } catch (SystemException failure) {
      throw new IllegalStateException("could not suspend the thread's transaction", failure);
    }
  }

  private int status() {
    try {
      return manager.getStatus();
    } catch (SystemException failure) {
      throw new IllegalStateException("could not ask for the thread's transaction", failure);
    }
  }
}
