package io.github.grpcidempotency.jta;

import io.github.grpcidempotency.postgres.HostTransaction;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * A transaction of the manager while it lasts, whoever has begun it. Thread-safe, because a manager
 * ends a transaction on a thread of its own once it has timed out.
 */
final class JtaTransaction implements HostTransaction {
  private final TransactionSynchronizationRegistry registry;
  private final DataSource dataSource;
  private final List<Runnable> last = new ArrayList<>();
  private final List<Consumer<Completion>> listeners = new ArrayList<>();
  private Optional<Connection> connection = Optional.empty();
  private Optional<RuntimeException> failure = Optional.empty();
  private boolean registered;
  private boolean readyToCommit;

  JtaTransaction(TransactionSynchronizationRegistry registry, DataSource dataSource) {
    this.registry = registry;
    this.dataSource = dataSource;
  }

  /**
   * @throws IllegalStateException if the transaction is set to roll back
   */
  synchronized void register() {
    if (!registered) {
      register(new Ending());
      registered = true;
    }
  }

  private void register(Synchronization synchronization) {
    try {
      registry.registerInterposedSynchronization(synchronization);
    } catch (RuntimeException refusal) {
      throw new IllegalStateException(
          "the transaction does not let anything be recorded within it: it is set to roll back",
          refusal);
    }
  }

  @Override
  public synchronized Connection connection() {
    if (connection.isEmpty()) {
      register();
      connection = Optional.of(enlisted());
    }
    return connection.get();
  }

  private Connection enlisted() {
    try {
      Connection given = dataSource.getConnection();
      if (given.getAutoCommit()) {
        given.close();
        throw new IllegalStateException(
            "The data source does not enlist its connections in the transaction manager's"
                + " transactions: what is written through it would be committed at once.");
      }
      return given;
    } catch (SQLException refusal) {
      throw new IllegalStateException("could not connect within the transaction", refusal);
    }
  }

  @Override
  public synchronized void beforeCommit(Runnable work) {
    register();
    last.add(work);
  }

  @Override
  public synchronized void afterCompletion(Consumer<Completion> heard) {
    register();
    listeners.add(heard);
  }

  /** Returns why the work before the commit failed. */
  synchronized Optional<RuntimeException> failure() {
    return failure;
  }

  /** Gives the connection back; the data source keeps the real one until the transaction ends. */
  synchronized void closeConnection() {
    try {
      if (connection.isPresent()) {
        connection.get().close();
      }
    } catch (SQLException ignored) {
      // The data source takes it back when the transaction ends.
    } finally {
      connection = Optional.empty();
    }
  }

  private void workLast() {
    try {
      last.forEach(Runnable::run);
    } catch (RuntimeException thrown) {
      failure = Optional.of(thrown);
      throw thrown;
    } finally {
      closeConnection();
    }
    readyToCommit = true;
  }

  private void ended(int status) {
    closeConnection();
    Completion completion = completion(status);
    listeners.forEach(listener -> listener.accept(completion));
  }

  /**
   * A commit in one phase whose answer was lost has the status of a rollback. So a rollback is one
   * only if the commit cannot have been sent.
   */
  private Completion completion(int status) {
    return switch (status) {
      case Status.STATUS_COMMITTED -> Completion.COMMITTED;
      case Status.STATUS_ROLLEDBACK -> readyToCommit ? Completion.UNKNOWN : Completion.ROLLED_BACK;
      default -> Completion.UNKNOWN;
    };
  }

  /** Registers, once the commit begins, what is to come last. */
  private final class Ending implements Synchronization {
    @Override
    public void beforeCompletion() {
      registry.registerInterposedSynchronization(new Last());
    }

    @Override
    public void afterCompletion(int status) {
      synchronized (JtaTransaction.this) {
        ended(status);
      }
    }
  }

  private final class Last implements Synchronization {
    @Override
    public void beforeCompletion() {
      synchronized (JtaTransaction.this) {
        workLast();
      }
    }

    @Override
    public void afterCompletion(int status) {
      // The one that has registered this one hears it.
    }
  }
}
