package io.github.grpcidempotency.hosts.micronaut;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.micronaut.transaction.SynchronousTransactionManager;
import io.micronaut.transaction.TransactionDefinition;
import io.micronaut.transaction.TransactionStatus;
import io.micronaut.transaction.exceptions.UnexpectedRollbackException;
import io.micronaut.transaction.support.TransactionSynchronization;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.util.Optional;

/** Uses Micronaut's transactions for claims, so that {@code @Transactional} code joins them. */
@Singleton
final class MicronautTransactions implements HostTransactions {
  private final SynchronousTransactionManager<Connection> manager;

  MicronautTransactions(SynchronousTransactionManager<Connection> manager) {
    this.manager = manager;
  }

  @Override
  public HostTransaction begin(String name) {
    return new Begun(manager, manager.getTransaction(new New(name)));
  }

  @Override
  public boolean isActive() {
    return open().isPresent();
  }

  @Override
  public void setRollbackOnly() {
    open().ifPresent(TransactionStatus::setRollbackOnly);
  }

  private Optional<? extends TransactionStatus<?>> open() {
    return manager.findTransactionStatus().filter(status -> !status.isCompleted());
  }

  private record New(String name) implements TransactionDefinition {
    @Override
    public String getName() {
      return name;
    }

    @Override
    public Propagation getPropagationBehavior() {
      return Propagation.REQUIRES_NEW;
    }
  }

  private record Begun(
      SynchronousTransactionManager<Connection> manager, TransactionStatus<Connection> status)
      implements HostTransaction {
    @Override
    public Connection connection() {
      return status.getConnection();
    }

    @Override
    public Completion commit(Runnable record) {
      status.registerSynchronization(new LastWork(record));
      try {
        manager.commit(status); // or rolls back, if a handler has set it to rollback-only
        return status.isRollbackOnly() ? Completion.ROLLED_BACK : Completion.COMMITTED;
      } catch (UnexpectedRollbackException rolledBack) {
        return Completion.ROLLED_BACK;
      }
    }

    @Override
    public void rollback() {
      if (!status.isCompleted()) {
        try {
          manager.rollback(status);
        } catch (RuntimeException unreachable) {
          // The database rolls the transaction back.
        }
      }
    }
  }

  private record LastWork(Runnable work) implements TransactionSynchronization {
    @Override
    public void beforeCommit(boolean readOnly) {
      work.run();
    }

    @Override
    public int getOrder() {
      return LOWEST_PRECEDENCE;
    }
  }
}
