package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Consumer;
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
final class BegunTransaction implements HostTransaction.Begun {
  private static final Logger logger = LoggerFactory.getLogger(BegunTransaction.class);

  /** The latest transaction that the store began on a thread. It may have ended. */
  private static final ThreadLocal<@Nullable BegunTransaction> LATEST = new ThreadLocal<>();

  private final Thread thread = Thread.currentThread();
  private final PlatformTransactionManager manager;
  private final TransactionStatus status;
  private final Connection connection;
  private final Ending ending;
  private final SuspensionWatch watch = new SuspensionWatch();

  private final Optional<ConnectionHolder> holder;

  /** The transaction that was open on this thread when this one began. */
  private final Optional<BegunTransaction> outer;

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
  private static final class SuspensionWatch implements TransactionSynchronization {
    private boolean suspended;

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
    this.holder = connectionHolder(status);
    this.outer = latest();
  }

  /** Watches the transaction that has just begun on this thread. */
  static BegunTransaction watch(
      PlatformTransactionManager manager, TransactionStatus status, Connection connection) {
    BegunTransaction begun = new BegunTransaction(manager, status, connection);
    TransactionSynchronizationManager.registerSynchronization(begun.watch);
    LATEST.set(begun);
    return begun;
  }

  /** Returns the latest transaction that the store began on this thread and that is open. */
  static Optional<BegunTransaction> latest() {
    return Optional.ofNullable(LATEST.get()).flatMap(BegunTransaction::ifOpen);
  }

  private Optional<BegunTransaction> ifOpen() {
    return status.isCompleted() ? outer.flatMap(BegunTransaction::ifOpen) : Optional.of(this);
  }

  /**
   * Returns the transaction that a method joins: this one, an outer one, or none of the store's.
   * Within a transaction of another manager, Spring suspends the synchronizations of the first, but
   * a method may still join it.
   */
  Optional<BegunTransaction> joinedBy(TransactionStatus participant) {
    if (participant.isNewTransaction()) {
      return Optional.empty();
    }
    Optional<ConnectionHolder> joined = connectionHolder(participant);
    boolean joinsThis = joined.isPresent() ? joined.equals(holder) : isCurrent();
    return joinsThis
        ? Optional.of(this)
        : outer.flatMap(BegunTransaction::ifOpen).flatMap(open -> open.joinedBy(participant));
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
