package io.github.grpcidempotency.postgres.jooq;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The plainest transactions that a host can have. Nobody asks for the current one. */
record PoolTransactions(DataSource pool) implements HostTransactions {
  @Override
  public HostTransaction.Begun begin(String name) {
    try {
      Connection connection = pool.getConnection();
      connection.setAutoCommit(false);
      return new Begun(connection, new ArrayList<>(), new ArrayList<>());
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  @Override
  public Optional<HostTransaction> current() {
    return Optional.empty();
  }

  private record Begun(
      Connection connection,
      List<Runnable> beforeCommit,
      List<Consumer<HostTransaction.Completion>> afterCompletion)
      implements HostTransaction.Begun {
    @Override
    public void beforeCommit(Runnable work) {
      beforeCommit.add(work);
    }

    @Override
    public void afterCompletion(Consumer<HostTransaction.Completion> heard) {
      afterCompletion.add(heard);
    }

    @Override
    public HostTransaction.Completion commit() {
      beforeCommit.forEach(Runnable::run);
      try (connection) {
        connection.commit();
      } catch (SQLException failure) {
        throw new IllegalStateException(failure);
      }
      afterCompletion.forEach(heard -> heard.accept(HostTransaction.Completion.COMMITTED));
      return HostTransaction.Completion.COMMITTED;
    }

    @Override
    public void rollback() {
      try (connection) {
        if (!connection.isClosed()) {
          connection.rollback();
        }
      } catch (SQLException failure) {
        throw new IllegalStateException(failure);
      }
    }
  }
}
