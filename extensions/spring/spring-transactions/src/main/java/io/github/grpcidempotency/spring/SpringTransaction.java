package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction that the store began. Only its own thread can end it, because Spring keeps the
 * transaction's state on that thread.
 */
final class SpringTransaction implements HostTransaction, TransactionSynchronization {
  private static final Logger logger = LoggerFactory.getLogger(SpringTransaction.class);

  /** The latest transaction that the store began on a thread. It may have ended. */
  private static final ThreadLocal<@Nullable SpringTransaction> LATEST = new ThreadLocal<>();

  private final PlatformTransactionManager manager;
  private final TransactionStatus status;
  private final Connection connection;
  private final Optional<ConnectionHolder> holder;

  /** The transaction that was open on this thread when this one began. */
  private final Optional<SpringTransaction> outer;

  private Optional<TimeLimit> limit = Optional.empty();
  private boolean suspended;
  private Completion completion = Completion.UNKNOWN;

  /**
   * The time at which the transaction must have ended, by {@link System#nanoTime}, and the method
   * that has set the limit.
   */
  private record TimeLimit(long end, String method) {
    boolean isOver() {
      return end - System.nanoTime() <= 0;
    }
  }

  private SpringTransaction(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    this.manager = manager;
    this.status = status;
    this.connection = connection;
    this.holder = connectionHolder(status);
    this.outer = latest();
  }

  /** Watches the transaction that has just begun on this thread. */
  static SpringTransaction watch(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    SpringTransaction begun = new SpringTransaction(manager, status, connection);
    TransactionSynchronizationManager.registerSynchronization(begun);
    LATEST.set(begun);
    return begun;
  }

  /** Returns the latest transaction that the store began on this thread and that is open. */
  static Optional<SpringTransaction> latest() {
    return Optional.ofNullable(LATEST.get()).flatMap(SpringTransaction::ifOpen);
  }

  private Optional<SpringTransaction> ifOpen() {
    return status.isCompleted() ? outer.flatMap(SpringTransaction::ifOpen) : Optional.of(this);
  }

  /**
   * Returns the transaction that a method joins: this one, an outer one, or none of the store's.
   * Within a transaction of another manager, Spring suspends the synchronizations of the first, but
   * a method may still join it.
   */
  Optional<SpringTransaction> joinedBy(TransactionStatus participant) {
    if (participant.isNewTransaction()) {
      return Optional.empty();
    }
    Optional<ConnectionHolder> joined = connectionHolder(participant);
    boolean joinsThis = joined.isPresent() ? joined.equals(holder) : isCurrent();
    return joinsThis
        ? Optional.of(this)
        : outer.flatMap(SpringTransaction::ifOpen).flatMap(open -> open.joinedBy(participant));
  }

  /** Returns the holder of a transaction's connection, unless the manager does not expose it. */
  private static Optional<ConnectionHolder> connectionHolder(TransactionStatus status) {
    return status instanceof DefaultTransactionStatus known
            && known.hasTransaction()
            && known.getTransaction() instanceof JdbcTransactionObjectSupport transaction
            && transaction.hasConnectionHolder()
        ? Optional.of(transaction.getConnectionHolder())
        : Optional.empty();
  }

  /**
   * Limits the remaining time, unless the limit is shorter already. Spring limits statements by the
   * deadline of the transaction's resources; this class limits the commit.
   */
  void limit(Duration timeout, String method) {
    TimeLimit latest = new TimeLimit(System.nanoTime() + timeout.toNanos(), method);
    if (limit.filter(earlier -> earlier.end() - latest.end() <= 0).isPresent()) {
      return;
    }
    limit = Optional.of(latest);
    Collection<Object> resources =
        isCurrent()
            ? TransactionSynchronizationManager.getResourceMap().values()
            : holder.stream().<Object>map(mine -> mine).toList();
    for (Object resource : resources) {
      if (resource instanceof ResourceHolderSupport holder
          && !(holder.hasTimeout() && holder.getTimeToLiveInMillis() < timeout.toMillis())) {
        holder.setTimeoutInMillis(timeout.toMillis());
      }
    }
  }

  @Override
  public Connection connection() {
    return connection;
  }

  @Override
  public void suspend() {
    suspended = true;
  }

  @Override
  public boolean wasSuspended() {
    return suspended;
  }

  /**
   * If a callback before the commit throws a {@code TransactionException}, Spring neither commits
   * nor rolls back. A manager for JDBC then switches the connection to autocommit, which commits; a
   * manager for JPA loses the connection with its locks. So everything that Spring does not report
   * as committed is rolled back first.
   */
  @Override
  public void afterCompletion(int ended) {
    completion =
        switch (ended) {
          case STATUS_COMMITTED -> Completion.COMMITTED;
          case STATUS_ROLLED_BACK -> Completion.ROLLED_BACK;
          default -> Completion.UNKNOWN;
        };
    if (completion != Completion.COMMITTED) {
      rollBack(connection);
    }
  }

  @Override
  public Completion commit(Runnable record) {
    if (!isCurrent()) {
      throw new IllegalStateException(
          "the claim's transaction is not the current transaction of this thread: either"
              + " another thread began it, or the handler has left a transaction of its own open");
    }
    if (limit.filter(TimeLimit::isOver).isPresent()) {
      throw new TransactionTimedOutException(
          "the transaction is rolled back, because the timeout of %s has passed"
              .formatted(limit.get().method()));
    }
    // Registered only now, so that it runs after everything that the handler has registered.
    TransactionSynchronizationManager.registerSynchronization(last(status, connection, record));
    try {
      manager.commit(status);
    } catch (UnexpectedRollbackException failure) {
      logger.debug("the transaction was marked for rollback", failure);
    } catch (RuntimeException | Error failure) {
      if (completion != Completion.COMMITTED) {
        throw failure;
      }
      logger.error(
          "a callback of the application failed after the commit of the transaction", failure);
    }
    return completion;
  }

  /**
   * Returns the last work before a commit. A manager for JDBC commits even if the transaction was
   * marked for rollback by a callback before the commit, so this work rolls back first.
   */
  static TransactionSynchronization last(
      TransactionStatus status, Connection connection, Runnable record) {
    return new TransactionSynchronization() {
      @Override
      public void beforeCommit(boolean readOnly) {
        if (!status.isRollbackOnly()) {
          status.flush();
          record.run();
        }
      }

      @Override
      public void beforeCompletion() {
        if (status.isRollbackOnly()) {
          rollBack(connection);
        }
      }
    };
  }

  /** Rolls back. Has no effect on a transaction that has ended. */
  private static void rollBack(Connection connection) {
    try {
      connection.rollback();
    } catch (SQLException ended) {
      logger.debug("the transaction's connection was closed, so nothing is rolled back", ended);
    }
  }

  @Override
  public void rollback() {
    if (status.isCompleted()) {
      return;
    }
    try {
      manager.rollback(status);
    } catch (RuntimeException | Error unreachable) {
      logger.debug(
          "a transaction could not be rolled back; the connection is closed, so the"
              + " database rolls the transaction back",
          unreachable);
    }
  }

  private boolean isCurrent() {
    return TransactionSynchronizationManager.isSynchronizationActive()
        && TransactionSynchronizationManager.getSynchronizations().contains(this);
  }
}
