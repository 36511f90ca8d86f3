package io.github.grpcidempotency.hosts.micronaut;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.micronaut.transaction.SynchronousTransactionManager;
import io.micronaut.transaction.TransactionDefinition;
import io.micronaut.transaction.TransactionStatus;
import io.micronaut.transaction.exceptions.UnexpectedRollbackException;
import io.micronaut.transaction.support.TransactionSynchronization;
import jakarta.inject.Singleton;
import java.sql.Connection;
import java.util.Optional;
import java.util.function.Consumer;

/** Uses Micronaut's transactions for claims, so that {@code @Transactional} code joins them. */
@Singleton
final class MicronautTransactions implements HostTransactions {
  private final SynchronousTransactionManager<Connection> manager;

  MicronautTransactions(SynchronousTransactionManager<Connection> manager) {
    this.manager = manager;
  }

  @Override
  public HostTransaction.Begun begin(String name) {
    return new Begun(manager, manager.getTransaction(new New(name)));
  }

  @Override
  public Optional<HostTransaction> current() {
    return manager.findTransactionStatus().filter(status -> !status.isCompleted()).map(Joined::new);
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

  private static class Joined implements HostTransaction {
    private final TransactionStatus<?> status;

    Joined(TransactionStatus<?> status) {
      this.status = status;
    }

    @Override
    public Connection connection() {
      return (Connection) status.getConnection();
    }

    @Override
    public void beforeCommit(Runnable work) {
      status.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
              work.run();
            }

            @Override
            public int getOrder() {
              return LOWEST_PRECEDENCE;
            }
          });
    }

    @Override
    public void afterCompletion(Consumer<Completion> listener) {
      status.registerSynchronization(
          new TransactionSynchronization() {
            @Override
            public void afterCompletion(Status ended) {
              listener.accept(
                  switch (ended) {
                    case COMMITTED -> Completion.COMMITTED;
                    case ROLLED_BACK -> Completion.ROLLED_BACK;
                    case UNKNOWN -> Completion.UNKNOWN;
                  });
            }
          });
    }
  }

  private static final class Begun extends Joined implements HostTransaction.Begun {
    private final SynchronousTransactionManager<Connection> manager;
    private final TransactionStatus<Connection> status;

    Begun(SynchronousTransactionManager<Connection> manager, TransactionStatus<Connection> status) {
      super(status);
      this.manager = manager;
      this.status = status;
    }

    @Override
    public Completion commit() {
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
}
