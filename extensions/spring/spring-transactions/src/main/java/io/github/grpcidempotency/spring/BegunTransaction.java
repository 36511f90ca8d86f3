package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A transaction that the store began. Only its own thread can end it, because Spring keeps the
 * transaction's state on that thread.
 */
final class BegunTransaction implements HostTransaction.Begun {
  private static final Logger logger = LoggerFactory.getLogger(BegunTransaction.class);

  private final Thread thread = Thread.currentThread();
  private final PlatformTransactionManager manager;
  private final TransactionStatus status;
  private final Connection connection;
  private final Ending ending;
  private final SuspensionWatch watch = new SuspensionWatch();
  private Optional<TimeLimit> limit = Optional.empty();

  /**
   * The time at which the transaction must have ended, by {@link System#nanoTime}, and the method
   * that has set the limit.
   */
  private record TimeLimit(long end, String method) {
    boolean isOver() {
      return end - System.nanoTime() <= 0;
    }
  }

  /** Records that the transaction was suspended. */
  private final class SuspensionWatch implements TransactionSynchronization {
    private boolean suspended;

    BegunTransaction transaction() {
      return BegunTransaction.this;
    }

    @Override
    public void suspend() {
      suspended = true;
    }
  }

  private BegunTransaction(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    this.manager = manager;
    this.status = status;
    this.connection = connection;
    this.ending = new Ending(status, connection, () -> {});
  }

  /** Watches the transaction that has just begun on this thread. */
  static BegunTransaction watch(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    BegunTransaction begun = new BegunTransaction(manager, status, connection);
    TransactionSynchronizationManager.registerSynchronization(begun.watch);
    return begun;
  }

  /** Returns the current transaction of this thread, if the store began it. */
  static Optional<BegunTransaction> current() {
    if (!TransactionSynchronizationManager.isSynchronizationActive()) {
      return Optional.empty();
    }
    return TransactionSynchronizationManager.getSynchronizations().stream()
        .filter(SuspensionWatch.class::isInstance)
        .map(SuspensionWatch.class::cast)
        .map(SuspensionWatch::transaction)
        .findFirst();
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
    for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
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
  public boolean commitsByConnection() {
    return ManagerCheck.commitsByConnection(manager);
  }

  @Override
  public void beforeCommit(Runnable work) {
    ending.beforeCommit(work);
  }

  @Override
  public void afterCompletion(Consumer<Completion> listener) {
    ending.afterCompletion(listener);
  }

  @Override
  public boolean wasSuspended() {
    return watch.suspended;
  }

  /** Writes nothing if the transaction is marked for rollback. */
  @Override
  public void flush() {
    if (isCurrent() && !status.isRollbackOnly()) {
      status.flush();
    }
  }

  @Override
  public Completion commit() {
    if (!isCurrent()) {
      rollback();
      throw new IllegalStateException(
          "the claim's transaction is not the current transaction of this thread: either"
              + " another thread began it, or the handler has left a transaction of its own open");
    }
    if (limit.filter(TimeLimit::isOver).isPresent()) {
      rollback();
      throw new TransactionTimedOutException(
          "the transaction is rolled back, because the timeout of %s has passed"
              .formatted(limit.get().method()));
    }
    // Registered only now, so that it runs after all synchronizations that the handler has
    // registered.
    TransactionSynchronizationManager.registerSynchronization(ending);
    try {
      manager.commit(status);
    } catch (RuntimeException | Error failure) {
      if (ending.completion() == Completion.COMMITTED) {
        logger.error(
            "a callback of the application failed after the commit of the transaction", failure);
      } else if (failure instanceof UnexpectedRollbackException) {
        logger.debug("the transaction was marked for rollback", failure);
        return Completion.ROLLED_BACK;
      } else {
        throw failure;
      }
    }
    return ending.completion();
  }

  @Override
  public void rollback() {
    if (Thread.currentThread() != thread) {
      logger.error("a transaction can be rolled back only by the thread that began it");
      return;
    }
    if (status.isCompleted()) {
      return;
    }
    if (isCurrent()) {
      TransactionSynchronizationManager.registerSynchronization(ending);
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
    return Thread.currentThread() == thread
        && TransactionSynchronizationManager.isSynchronizationActive()
        && TransactionSynchronizationManager.getSynchronizations().contains(watch);
  }
}
