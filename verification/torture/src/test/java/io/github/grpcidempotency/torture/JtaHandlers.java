package io.github.grpcidempotency.torture;

import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.arjPropertyManager;
import com.arjuna.ats.internal.arjuna.objectstore.VolatileStore;
import com.arjuna.ats.jta.common.jtaPropertyManager;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.AgroalConnectionPoolConfiguration.ConnectionValidator;
import io.agroal.api.configuration.supplier.AgroalConnectionFactoryConfigurationSupplier;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.narayana.NarayanaTransactionIntegration;
import io.github.grpcidempotency.jta.JtaTransactions;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;

/** Those of Narayana: what handlers write joins the transaction that their thread has. */
final class JtaHandlers implements HandlerTransactions {
  private final String server;
  private final TransactionManager manager;
  private final TransactionSynchronizationRegistry registry;
  private final AgroalDataSource pool;
  private final Jdbi jdbi;

  private JtaHandlers(
      String server,
      TransactionManager manager,
      TransactionSynchronizationRegistry registry,
      AgroalDataSource pool) {
    this.server = server;
    this.manager = manager;
    this.registry = registry;
    this.pool = pool;
    this.jdbi = Jdbi.create(pool);
  }

  /** Starts a transaction manager and its pool, for as long as the process lives. */
  static ServerKind.Host start(String server, String jdbcUrl, ServerLife life) {
    keepNoFiles();
    TransactionManager manager = com.arjuna.ats.jta.TransactionManager.transactionManager();
    TransactionSynchronizationRegistry registry =
        jtaPropertyManager.getJTAEnvironmentBean().getTransactionSynchronizationRegistry();
    AgroalDataSource pool = pool(jdbcUrl, life, manager, registry);
    return new ServerKind.Host(pool, new JtaHandlers(server, manager, registry, pool));
  }

  private static void keepNoFiles() {
    String inMemory = VolatileStore.class.getName();
    arjPropertyManager.getObjectStoreEnvironmentBean().setObjectStoreType(inMemory);
    for (String name : List.of("communicationStore", "stateStore")) {
      BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, name)
          .setObjectStoreType(inMemory);
    }
  }

  private static AgroalDataSource pool(
      String jdbcUrl,
      ServerLife life,
      TransactionManager manager,
      TransactionSynchronizationRegistry registry) {
    try {
      return AgroalDataSource.from(
          new AgroalDataSourceConfigurationSupplier()
              .connectionPoolConfiguration(
                  settings ->
                      settings
                          .maxSize(life.number(Dimension.POOL_SIZE))
                          .acquisitionTimeout(
                              Duration.ofMillis(life.number(Dimension.CONNECTION_TIMEOUT)))
                          .validateOnBorrow(true)
                          .connectionValidator(ConnectionValidator.defaultValidatorWithTimeout(1))
                          .transactionIntegration(
                              new NarayanaTransactionIntegration(manager, registry))
                          .connectionFactoryConfiguration(
                              connections -> configure(connections, jdbcUrl, life))));
    } catch (SQLException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static AgroalConnectionFactoryConfigurationSupplier configure(
      AgroalConnectionFactoryConfigurationSupplier connections, String jdbcUrl, ServerLife life) {
    life.driverProperties()
        .forEach((name, value) -> connections.jdbcProperty(name.toString(), value.toString()));
    return connections.jdbcUrl(jdbcUrl);
  }

  @Override
  public void configure(PostgresIdempotencyStore.Builder store) {
    store.hostTransactions(JtaTransactions.of(manager, registry, pool));
  }

  @Override
  public void write(EffectRun run, Rest rest) {
    required(
        () -> {
          if (run.way() == Way.AT_COMMIT_AFTER_A_FAILURE) {
            fail();
            HandlerTransactions.unlessFailed(() -> insert(run));
          } else {
            insert(run);
          }
          rest.run();
        });
  }

  private void fail() {
    try {
      int unused = jdbi.withHandle(handle -> handle.execute("SELECT 1 / 0"));
    } catch (UnableToExecuteStatementException asWanted) {
      // a handler need not mind
    }
  }

  @Override
  public void join(EffectRun run, Rest rest) {
    new PlainTransactions(server, pool).join(run, rest);
  }

  @Override
  public void beside(EffectRun run, Rest rest) {
    required(
        () -> {
          insert(run);
          rest.run();
        });
  }

  @Override
  public void inVain(EffectRun run, boolean locks, Rest rest) {
    required(
        () -> {
          if (locks) {
            jdbi.useHandle(PlainTransactions::lock);
          }
          insert(run);
          manager.setRollbackOnly();
          rest.run();
        });
  }

  @Override
  public boolean areOfHost() {
    return true;
  }

  private void insert(EffectRun run) {
    jdbi.useHandle(handle -> PlainTransactions.insert(handle, server, run));
  }

  /** What a bean does. */
  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  /** Joins the transaction of the thread, or has one of its own. */
  private void required(Work work) {
    try {
      if (manager.getTransaction() != null) {
        work.run();
        return;
      }
      manager.begin();
      try {
        work.run();
      } catch (Exception | Error failure) {
        manager.rollback();
        throw failure;
      }
      end();
    } catch (RuntimeException failure) {
      throw failure;
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  private void end() throws Exception {
    if (manager.getStatus() == jakarta.transaction.Status.STATUS_MARKED_ROLLBACK) {
      manager.rollback();
    } else {
      manager.commit();
    }
  }
}
