package io.github.grpcidempotency.spring;

import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransactions;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
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
   * @param manager begins and ends transactions
   * @param dataSource the manager's data source, or a {@code TransactionAwareDataSourceProxy}
   *     around it
   * @throws IllegalArgumentException if the manager has another data source, no data source, or no
   *     synchronization, as far as the manager reports this
   */
  public static SpringTransactions of(PlatformTransactionManager manager, DataSource dataSource) {
    DataSource target = ManagerCheck.targetOf(dataSource);
    ManagerCheck.check(manager, target);
    return new SpringTransactions(manager, target);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the manager's transactions do not run on the data source's
   *     connection, or cannot be synchronized with
   * @throws org.springframework.transaction.TransactionException if the transaction cannot begin
   */
  @Override
  public HostTransaction.Begun begin(String name) {
    DefaultTransactionDefinition definition =
        new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    definition.setName(name);
    TransactionStatus status = manager.getTransaction(definition);
    try {
      return BegunTransaction.watch(manager, status, ManagerCheck.connection(manager, dataSource));
    } catch (RuntimeException | Error failure) {
      manager.rollback(status);
      throw failure;
    }
  }

  @Override
  public Optional<HostTransaction> current() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()
        || !TransactionSynchronizationManager.isSynchronizationActive()) {
      return Optional.empty();
    }
    return participate().map(status -> new JoinedTransaction(manager, status, dataSource));
  }

  /**
   * Returns a status that joins the current transaction and is never completed, because the
   * original status cannot be obtained. This status can flush. Empty if the transaction belongs to
   * another manager.
   */
  private Optional<TransactionStatus> participate() {
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
