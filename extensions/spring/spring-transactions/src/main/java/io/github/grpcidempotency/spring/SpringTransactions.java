package io.github.grpcidempotency.spring;

import static java.util.Objects.requireNonNull;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import java.sql.Connection;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Spring's transactions. The claim of a transactional call is a Spring transaction, and everything
 * that the handler calls joins it, with {@code @Transactional}, {@code TransactionTemplate}, {@code
 * JdbcTemplate} or an {@code EntityManager}.
 *
 * <pre>{@code
 * PostgresIdempotencyStore.builder(dataSource)
 *     .hostTransactions(SpringTransactions.of(transactionManager, dataSource))
 *     .build();
 * }</pre>
 *
 * <p>It works with {@code DataSourceTransactionManager}, {@code JdbcTransactionManager} and {@code
 * JpaTransactionManager}, and with any other manager that exposes the connection of its
 * transactions through {@code DataSourceUtils}. It needs neither JPA nor Hibernate.
 *
 * <p>As always in Spring, the code that begins a transaction sets its attributes. A claim has the
 * manager's default attributes. {@link JoinedAttributes} enforces the attributes of a
 * {@code @Transactional} method that joins.
 *
 * <p>Thread-safe.
 */
public final class SpringTransactions implements HostTransactions {
  private final PlatformTransactionManager manager;
  private final DataSource dataSource;

  private SpringTransactions(PlatformTransactionManager manager, DataSource dataSource) {
    this.manager = manager;
    this.dataSource = dataSource;
  }

  /**
   * Returns the transactions of a manager.
   *
   * @param manager begins and ends transactions, and synchronizes them (which is the default)
   * @param dataSource the manager's data source, or a {@code TransactionAwareDataSourceProxy}
   *     around it
   */
  public static SpringTransactions of(PlatformTransactionManager manager, DataSource dataSource) {
    return new SpringTransactions(
        manager,
        dataSource instanceof TransactionAwareDataSourceProxy proxy
            ? requireNonNull(proxy.getTargetDataSource())
            : dataSource);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the manager's transactions do not use the data source's
   *     connection, or have no synchronization
   * @throws org.springframework.transaction.TransactionException if the transaction cannot begin
   */
  @Override
  public HostTransaction begin(String name) {
    DefaultTransactionDefinition definition =
        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    definition.setName(name);
    TransactionStatus status = manager.getTransaction(definition);
    try {
      checkConnection();
      return SpringTransaction.watch(manager, status, DataSourceUtils.getConnection(dataSource));
    } catch (RuntimeException | Error failure) {
      manager.rollback(status);
      throw failure;
    }
  }

  /**
   * Checks that a manager of one resource has bound its connection for this data source. Any other
   * manager, such as one for JTA, enlists the connection at its first use.
   */
  private void checkConnection() {
    if (manager instanceof ResourceTransactionManager
        && !TransactionSynchronizationManager.hasResource(dataSource)) {
      throw new IllegalStateException(
          ("the transactions of %s do not use a connection of the data source: the manager needs"
                  + " the same data source, and a manager for JPA also needs a JpaDialect that"
                  + " exposes the connection, such as Hibernate's")
              .formatted(manager.getClass().getName()));
    }
  }

  @Override
  public boolean isActive() {
    return participant().isPresent();
  }

  @Override
  public void setRollbackOnly() {
    participant()
        .ifPresent(
            status -> {
              status.setRollbackOnly();
              manager.rollback(status);
              Connection connection = DataSourceUtils.getConnection(dataSource);
              DataSourceUtils.releaseConnection(connection, dataSource);
              TransactionSynchronizationManager.registerSynchronization(
                  SpringTransaction.last(status, connection, () -> {}));
            });
  }

  /**
   * Returns a status that joins the current transaction and is never completed, because the
   * original status cannot be obtained. Its rollback marks the transaction. Empty if the
   * transaction belongs to another manager.
   */
  private Optional<TransactionStatus> participant() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()
        || !TransactionSynchronizationManager.isSynchronizationActive()) {
      return Optional.empty();
    }
    DefaultTransactionDefinition definition =
        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_MANDATORY);
    definition.setReadOnly(TransactionSynchronizationManager.isCurrentTransactionReadOnly());
    try {
      return Optional.of(manager.getTransaction(definition));
    } catch (IllegalTransactionStateException none) {
      return Optional.empty();
    }
  }
}
