package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;
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

  private final PlatformTransactionManager manager;
  private final TransactionStatus status;
  private final Connection connection;
  private final Optional<ConnectionHolder> holder;
  private Instant end = Instant.MAX;
  private boolean suspended;
  private Completion completion = Completion.UNKNOWN;

  private SpringTransaction(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    this.manager = manager;
    this.status = status;
    this.connection = connection;
    this.holder = connectionHolder(status);
  }

  /** Watches the transaction that has just begun on this thread. */
  static SpringTransaction watch(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    SpringTransaction begun = new SpringTransaction(manager, status, connection);
    TransactionSynchronizationManager.registerSynchronization(begun);
    begun.holder.ifPresent(held -> TransactionSynchronizationManager.bindResource(held, begun));
    return begun;
  }

  /**
   * Returns the transaction of the store that a method joins. It is found by the connection if the
   * manager exposes it, because within a transaction of another manager, Spring suspends the
   * synchronizations of the first.
   */
  static Optional<SpringTransaction> joinedBy(TransactionStatus participant) {
    if (participant.isNewTransaction()) {
      return Optional.empty();
    }
    Optional<ConnectionHolder> joined = connectionHolder(participant);
    Stream<?> found = Stream.empty();
    if (joined.isPresent()) {
      found = Stream.ofNullable(TransactionSynchronizationManager.getResource(joined.get()));
    } else if (TransactionSynchronizationManager.isSynchronizationActive()) {
      found = TransactionSynchronizationManager.getSynchronizations().stream();
    }
    return found
        .filter(SpringTransaction.class::isInstance)
        .map(SpringTransaction.class::cast)
        .findFirst();
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
  void limit(Duration timeout) {
    Instant latest = Instant.now().plus(timeout);
    if (end.isBefore(latest)) {
      return;
    }
    end = latest;
    Stream<?> resources =
        isCurrent()
            ? TransactionSynchronizationManager.getResourceMap().values().stream()
            : holder.stream();
    resources
        .filter(ResourceHolderSupport.class::isInstance)
        .map(ResourceHolderSupport.class::cast)
        .filter(own -> !(own.hasTimeout() && own.getTimeToLiveInMillis() < timeout.toMillis()))
        .forEach(own -> own.setTimeoutInMillis(timeout.toMillis()));
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
    unbind();
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
    if (!Instant.now().isBefore(end)) {
      throw new TransactionTimedOutException(
          "the transaction is rolled back, because the timeout of a method that joined has passed");
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
    unbind();
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

  private void unbind() {
    holder.ifPresent(TransactionSynchronizationManager::unbindResourceIfPossible);
  }

  private boolean isCurrent() {
    return TransactionSynchronizationManager.isSynchronizationActive()
        && TransactionSynchronizationManager.getSynchronizations().contains(this);
  }
}
