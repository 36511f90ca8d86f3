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

/** A transaction that the host began and will end. */
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

  /**
   * The connection belongs to the transaction until the transaction ends, even if other code has
   * released it.
   */
  @Override
  public Connection connection() {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    DataSourceUtils.releaseConnection(connection, dataSource);
    return connection;
  }

  @Override
  public void beforeCommit(Runnable work) {
    ending().beforeCommit(work);
  }

  @Override
  public void afterCompletion(Consumer<Completion> listener) {
    ending().afterCompletion(listener);
  }

  private Ending ending() {
    if (registered.isEmpty()) {
      Ending ending = new Ending(status, connection(), this::setRollbackOnly);
      TransactionSynchronizationManager.registerSynchronization(ending);
      registered = Optional.of(ending);
    }
    return registered.get();
  }

  /** Marks the transaction for rollback, as a failed participant does. */
  private void setRollbackOnly() {
    status.setRollbackOnly();
    manager.rollback(status);
  }
}
