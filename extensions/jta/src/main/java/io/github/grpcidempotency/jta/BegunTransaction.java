package io.github.grpcidempotency.jta;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import jakarta.transaction.HeuristicMixedException;
import jakarta.transaction.HeuristicRollbackException;
import jakarta.transaction.InvalidTransactionException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.Transaction;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction that the store began on the thread. If the thread already had a transaction, that
 * one is suspended.
 */
final class BegunTransaction implements HostTransaction.Begun {
  private static final Logger logger = LoggerFactory.getLogger(BegunTransaction.class);

  private final JtaTransactions host;
  private final Transaction transaction;
  private final JtaTransaction joined;
  private final @Nullable Transaction suspended;
  private final @Nullable BegunTransaction outer;
  private boolean wasSuspended;
  private boolean over;

  BegunTransaction(
      JtaTransactions host,
      Transaction transaction,
      JtaTransaction joined,
      @Nullable Transaction suspended,
      @Nullable BegunTransaction outer) {
    this.host = host;
    this.transaction = transaction;
    this.joined = joined;
    this.suspended = suspended;
    this.outer = outer;
    // Checked now, because a transaction that is marked for rollback accepts no registration later.
    joined.register();
  }

  @Override
  public Connection connection() {
    return joined.connection();
  }

  @Override
  public void beforeCommit(Runnable work) {
    joined.beforeCommit(work);
  }

  @Override
  public void afterCompletion(Consumer<Completion> listener) {
    joined.afterCompletion(listener);
  }

  @Override
  public Completion commit() {
    try {
      if (!isCurrent()) {
        abandon();
        throw new TransactionMisuseException(
            "the handler has ended the transaction of its call, or has left another transaction"
                + " open; the interceptor commits the call's transaction after the handler has"
                + " returned, so remove the handler's own commit or rollback");
      }
      host.manager().commit();
      return Completion.COMMITTED;
    } catch (RollbackException failure) {
      return whyRolledBack(failure);
    } catch (HeuristicRollbackException failure) {
      return Completion.ROLLED_BACK;
    } catch (HeuristicMixedException | SystemException failure) {
      return Completion.UNKNOWN;
    } finally {
      leave();
    }
  }

  /**
   * Finds out whether the transaction was rolled back. A manager also reports a rollback if the
   * answer to a one-phase commit was lost, so the error of the database decides.
   */
  private Completion whyRolledBack(RollbackException failure) {
    Optional<? extends Throwable> why = joined.failure();
    if (why.isEmpty()) {
      why = databaseFailure(failure);
    }
    if (why.isPresent()) {
      throw new IllegalStateException("the transaction was not committed", why.get());
    }
    return Completion.ROLLED_BACK;
  }

  /**
   * Finds the error of the database. Searches the causes and the suppressed exceptions, in which
   * managers collect the errors of their resources.
   */
  private static Optional<SQLException> databaseFailure(Throwable failure) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> open = new ArrayDeque<>();
    open.add(failure);
    while (!open.isEmpty()) {
      Throwable next = open.remove();
      if (next instanceof SQLException found && found.getSQLState() != null) {
        return Optional.of(found);
      }
      if (seen.add(next)) {
        Optional.ofNullable(next.getCause()).ifPresent(open::add);
        open.addAll(List.of(next.getSuppressed()));
      }
    }
    return Optional.empty();
  }

  @Override
  public void rollback() {
    if (!over) {
      abandon();
      leave();
    }
  }

  private void leave() {
    over = true;
    host.leave(suspended, outer);
  }

  /**
   * Rolls back, on the thread of the transaction, because a data source may find its transaction by
   * the thread only.
   */
  private void abandon() {
    try {
      if (!isCurrent() && isOpen()) {
        host.clear();
        host.manager().resume(transaction);
      }
      joined.closeConnection();
      host.clear();
    } catch (InvalidTransactionException | SystemException | RuntimeException | Error failure) {
      logger.debug(
          "could not roll the transaction back; the transaction manager rolls it back"
              + " after the transaction's timeout",
          failure);
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
}
