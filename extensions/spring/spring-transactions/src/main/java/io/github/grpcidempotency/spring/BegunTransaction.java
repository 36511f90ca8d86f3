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
 * A transaction that the store has begun. It can be ended by its own thread only, on which Spring
 * keeps what belongs to it.
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

  /** When the transaction must have ended, by {@link System#nanoTime}, and which method says so. */
  private record TimeLimit(long end, String method) {
    boolean isOver() {
      return end - System.nanoTime() <= 0;
    }
  }

  /** Hears that the transaction makes way for another one, or for none. */
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

  /** Returns the current transaction of this thread, if the store has begun it. */
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
   * Limits the time that is left, unless it is less already. Spring limits its statements by the
   * deadline of their resources; the commit is limited here.
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
  public void afterCompletion(Consumer<Completion> heard) {
    ending.afterCompletion(heard);
  }

  @Override
  public boolean wasSuspended() {
    return watch.suspended;
  }

  /** What is rolled back anyway is not written. */
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
          "the claim's transaction is not the current one of this thread: another thread has begun"
              + " it, or the handler has left a transaction of its own open");
    }
    if (limit.filter(TimeLimit::isOver).isPresent()) {
      rollback();
      throw new TransactionTimedOutException(
          "the transaction is rolled back, because the timeout of %s has passed"
              .formatted(limit.get().method()));
    }
    // Registered only now, it comes after all that the handler has registered.
    TransactionSynchronizationManager.registerSynchronization(ending);
    try {
      manager.commit(status);
    } catch (RuntimeException failure) {
      return onFailure(failure);
    }
    return ending.completion();
  }

  /** The host's own callbacks run after the commit as well, and may throw anything. */
  private Completion onFailure(RuntimeException failure) {
    if (ending.completion() == Completion.COMMITTED) {
      logger.error("what was to run after the commit has failed", failure);
      return Completion.COMMITTED;
    }
    if (failure instanceof UnexpectedRollbackException) {
      logger.debug("the transaction was set to rollback-only", failure);
      return Completion.ROLLED_BACK;
    }
    throw failure;
  }

  @Override
  public void rollback() {
    if (Thread.currentThread() != thread) {
      logger.error("a transaction cannot be rolled back by another thread than its own");
      return;
    }
    if (status.isCompleted()) {
      return;
    }
    try {
      if (isCurrent()) {
        TransactionSynchronizationManager.registerSynchronization(ending);
      }
      manager.rollback(status);
    } catch (RuntimeException unreachable) {
      logger.debug("a transaction could not be rolled back; the database does so", unreachable);
    }
  }

  private boolean isCurrent() {
    return Thread.currentThread() == thread
        && TransactionSynchronizationManager.isSynchronizationActive()
        && TransactionSynchronizationManager.getSynchronizations().contains(watch);
  }
}
