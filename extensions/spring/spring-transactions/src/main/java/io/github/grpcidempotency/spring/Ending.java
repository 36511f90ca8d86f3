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
 * What is done at the end of a transaction, and who hears how it ended. Whatever befalls the
 * transaction, it is not committed without that work:
 *
 * <ul>
 *   <li>The work is done in {@link #beforeCommit}, after a flush, and after the callbacks that were
 *       registered before; unless the transaction will be rolled back, which JPA finds out later.
 *   <li>Spring does not call {@code beforeCommit} if this was registered by another one's. Then
 *       {@link #beforeCompletion} rolls back.
 *   <li>If another one's {@code beforeCommit} throws a {@code TransactionException}, Spring neither
 *       commits nor rolls back, and a manager for JDBC then switches the connection to autocommit,
 *       which commits; one for JPA loses it, with what it has locked. So {@link #afterCompletion}
 *       rolls back first.
 *   <li>If a savepoint is rolled back within which this was registered, what the work was to go
 *       with is gone. It is not done.
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
   * Makes an end without work.
   *
   * @param rollbackOnly tells the manager that the transaction must not be committed
   */
  Ending(TransactionStatus status, Connection connection, Runnable rollbackOnly) {
    this.status = status;
    this.connection = connection;
    this.rollbackOnly = rollbackOnly;
  }

  void beforeCommit(Runnable work) {
    works.add(work);
  }

  void afterCompletion(Consumer<Completion> heard) {
    listeners.add(heard);
  }

  /** Returns how the transaction ended, as far as that is known yet. */
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

  /** Tells it once: what a savepoint's rollback has undone ends earlier than the transaction. */
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

  /** Does nothing on a connection that has been rolled back already. */
  private void undo() {
    state = State.UNDONE;
    rollBack();
  }

  /** Does nothing either if the transaction is committed, although Spring does not know it. */
  private void rollBack() {
    try {
      connection.rollback();
    } catch (SQLException ended) {
      logger.debug("the transaction's connection had been closed", ended);
    }
  }
}
