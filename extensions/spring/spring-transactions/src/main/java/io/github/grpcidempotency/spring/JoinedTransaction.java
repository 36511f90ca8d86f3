package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction;
import java.sql.Connection;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** A transaction that the host has begun, and ends. */
final class JoinedTransaction implements HostTransaction {
  private final PlatformTransactionManager manager;
  private final TransactionStatus status;
  private final DataSource dataSource;
  private Optional<Ending> registered = Optional.empty();

  JoinedTransaction(
      PlatformTransactionManager manager, TransactionStatus status, DataSource dataSource) {
    this.manager = manager;
    this.status = status;
    this.dataSource = dataSource;
  }

  /** It stays the transaction's own until that ends, whoever has given it back before. */
  @Override
  public Connection connection() {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    DataSourceUtils.releaseConnection(connection, dataSource);
    return connection;
  }

  @Override
  public boolean commitsByConnection() {
    return ManagerCheck.commitsByConnection(manager);
  }

  @Override
  public void beforeCommit(Runnable work) {
    ending().beforeCommit(work);
  }

  @Override
  public void afterCompletion(Consumer<Completion> heard) {
    ending().afterCompletion(heard);
  }

  private Ending ending() {
    if (registered.isEmpty()) {
      Ending ending = new Ending(status, connection(), this::setRollbackOnly);
      TransactionSynchronizationManager.registerSynchronization(ending);
      registered = Optional.of(ending);
    }
    return registered.get();
  }

  /** Fails, as far as Spring knows, as a participant. */
  private void setRollbackOnly() {
    status.setRollbackOnly();
    manager.rollback(status);
  }
}
