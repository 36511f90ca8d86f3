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
 * A transaction of the manager, no matter who began it. Thread-safe, because after a timeout a
 * manager ends a transaction on another thread.
 */
final class JtaTransaction implements HostTransaction {
  private final TransactionSynchronizationRegistry registry;
  private final DataSource dataSource;
  private final List<Runnable> last = new ArrayList<>();
  private final List<Consumer<Completion>> listeners = new ArrayList<>();
  private Optional<Connection> connection = Optional.empty();
  private Optional<Throwable> failure = Optional.empty();
  private boolean registered;
  private boolean readyToCommit;

  JtaTransaction(TransactionSynchronizationRegistry registry, DataSource dataSource) {
    this.registry = registry;
    this.dataSource = dataSource;
  }

  /**
   * Registers the work before the commit.
   *
   * @throws IllegalStateException if the transaction is marked for rollback
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
          "the answer cannot be recorded in the transaction, because the transaction is marked"
              + " for rollback",
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
            "the data source does not enlist its connections in the transaction manager's"
                + " transactions, so every write through it would be committed at once: use a data"
                + " source that the transaction manager manages");
      }
      return given;
    } catch (SQLException refusal) {
      throw new IllegalStateException(
          "could not open a connection within the transaction", refusal);
    }
  }

  @Override
  public synchronized void beforeCommit(Runnable work) {
    register();
    last.add(work);
  }

  @Override
  public synchronized void afterCompletion(Consumer<Completion> listener) {
    register();
    listeners.add(listener);
  }

  /** Returns the exception of the work before the commit, if it failed. */
  synchronized Optional<Throwable> failure() {
    return failure;
  }

  /**
   * Closes the connection; the data source keeps the real connection until the transaction ends.
   */
  synchronized void closeConnection() {
    try {
      if (connection.isPresent()) {
        connection.get().close();
      }
    } catch (SQLException ignored) {
      // The data source releases it when the transaction ends.
    } finally {
      connection = Optional.empty();
    }
  }

  private void workLast() {
    try {
      last.forEach(Runnable::run);
    } catch (RuntimeException | Error thrown) {
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
   * The manager also reports a rollback if the answer to a one-phase commit was lost. So a reported
   * rollback is certain only if no commit can have been sent.
   */
  private Completion completion(int status) {
    return switch (status) {
      case Status.STATUS_COMMITTED -> Completion.COMMITTED;
      case Status.STATUS_ROLLEDBACK -> readyToCommit ? Completion.UNKNOWN : Completion.ROLLED_BACK;
      default -> Completion.UNKNOWN;
    };
  }

  /** Registers the work that must come last, at the beginning of the commit. */
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
      // The synchronization that has registered this one is called.
    }
  }
}
