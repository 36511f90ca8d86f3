package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;

/**
 * Runs work at the end of a transaction, and calls listeners with its completion. The transaction
 * is never committed without the work:
 *
 * <ul>
 *   <li>The work runs in {@link #beforeCommit}, after a flush, and after the callbacks that were
 *       registered earlier. It does not run if the transaction will be rolled back, which JPA finds
 *       out later.
 *   <li>Spring does not call {@code beforeCommit} if this object was registered by another
 *       synchronization's {@code beforeCommit}. Then {@link #beforeCompletion} rolls back.
 *   <li>If the {@code beforeCommit} of another synchronization throws a {@code
 *       TransactionException}, Spring neither commits nor rolls back. A manager for JDBC then
 *       switches the connection to autocommit, which commits; a manager for JPA loses the
 *       connection with its locks. So {@link #afterCompletion} rolls back first.
 *   <li>If the application rolls back to a savepoint that is older than this registration, the
 *       changes that belong to the work are gone, so the work does not run.
 * </ul>
 */
final class Ending implements TransactionSynchronization {
  private enum State {
    PENDING,
    DONE,
    UNDONE
  }

  private static final Logger logger = LoggerFactory.getLogger(Ending.class);

  private final TransactionStatus status;
  private final Connection connection;
  private final Runnable rollbackOnly;
  private final List<Runnable> works = new ArrayList<>();
  private final List<Consumer<Completion>> listeners = new ArrayList<>();
  private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
  private State state = State.PENDING;
  private Completion completion = Completion.UNKNOWN;

  /**
   * Creates an object without work.
   *
   * @param rollbackOnly marks the transaction for rollback
   */
  Ending(TransactionStatus status, Connection connection, Runnable rollbackOnly) {
    this.status = status;
    this.connection = connection;
    this.rollbackOnly = rollbackOnly;
  }

  void beforeCommit(Runnable work) {
    works.add(work);
  }

  void afterCompletion(Consumer<Completion> listener) {
    listeners.add(listener);
  }

  /** Returns how the transaction ended, or {@code UNKNOWN} while that is unknown. */
  Completion completion() {
    return completion;
  }

  @Override
  public void savepoint(Object savepoint) {
    laterSavepoints.add(savepoint);
  }

  @Override
  public void savepointRollback(Object savepoint) {
    if (!laterSavepoints.contains(savepoint)) {
      state = State.UNDONE;
      end(Completion.ROLLED_BACK);
    }
  }

  @Override
  public void beforeCommit(boolean readOnly) {
    if (state != State.PENDING) {
      return;
    }
    if (status.isRollbackOnly()) {
      undo();
      return;
    }
    if (!readOnly) {
      status.flush();
    }
    works.forEach(Runnable::run);
    state = State.DONE;
  }

  @Override
  public void beforeCompletion() {
    if (state == State.PENDING && !works.isEmpty()) {
      undo();
      rollbackOnly.run();
    }
  }

  @Override
  public void afterCompletion(int ended) {
    if (state == State.PENDING && ended != STATUS_COMMITTED) {
      undo();
    } else if (ended == STATUS_UNKNOWN) {
      rollBack();
    }
    end(completion(ended));
  }

  /**
   * Calls the listeners once. After a rollback to a savepoint, this happens before the transaction
   * ends.
   */
  private void end(Completion how) {
    completion = how;
    listeners.forEach(listener -> listener.accept(how));
    listeners.clear();
  }

  private Completion completion(int ended) {
    return switch (state) {
      case DONE -> ended == STATUS_COMMITTED ? Completion.COMMITTED : Completion.UNKNOWN;
      case UNDONE -> Completion.ROLLED_BACK;
      case PENDING -> works.isEmpty() ? Completion.COMMITTED : Completion.UNKNOWN;
    };
  }

  /** Rolls back. Has no effect on a connection that was already rolled back. */
  private void undo() {
    state = State.UNDONE;
    rollBack();
  }

  /** Rolls back. Has no effect if the transaction is committed although Spring does not know it. */
  private void rollBack() {
    try {
      connection.rollback();
    } catch (SQLException ended) {
      logger.debug(
          "could not roll back, because the transaction's connection was already closed", ended);
    }
  }
}
