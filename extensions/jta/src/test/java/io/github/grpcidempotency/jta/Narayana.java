package io.github.grpcidempotency.jta;

import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.arjPropertyManager;
import com.arjuna.ats.internal.arjuna.objectstore.VolatileStore;
import com.arjuna.ats.jta.common.jtaPropertyManager;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.AgroalDataSourceListener;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.transaction.Synchronization;
import jakarta.transaction.Transaction;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A host with Narayana's transactions, and Agroal's pool of connections that join them. */
final class Narayana implements AutoCloseable {
  final TransactionManager manager;
  final TransactionSynchronizationRegistry registry;
  final AgroalDataSource pool;
  final JtaTransactions transactions;
  private final List<String> warnings = new CopyOnWriteArrayList<>();

  Narayana(String jdbcUrl) throws SQLException {
    keepNoFiles();
    manager = com.arjuna.ats.jta.TransactionManager.transactionManager();
    registry = jtaPropertyManager.getJTAEnvironmentBean().getTransactionSynchronizationRegistry();
    pool =
        AgroalDataSource.from(
            new AgroalDataSourceConfigurationSupplier()
                .metricsEnabled()
                .connectionPoolConfiguration(
                    settings ->
                        settings
                            .maxSize(4)
                            .acquisitionTimeout(Duration.ofSeconds(10))
                            .transactionIntegration(
                                new NarayanaTransactionIntegration(manager, registry))
                            .connectionFactoryConfiguration(
                                connections -> connections.jdbcUrl(jdbcUrl))),
            new Listener());
    transactions = JtaTransactions.of(manager, registry, pool);
  }

  private static void keepNoFiles() {
    String inMemory = VolatileStore.class.getName();
    arjPropertyManager.getObjectStoreEnvironmentBean().setObjectStoreType(inMemory);
    for (String name : List.of("communicationStore", "stateStore")) {
      BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, name)
          .setObjectStoreType(inMemory);
    }
  }

  /** Runs what a bean does that is {@code @Transactional}. */
  void required(Work work) throws Exception {
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
    manager.commit();
  }

  /** Runs what a bean does in {@code REQUIRES_NEW}, in a host that tells of new transactions. */
  void requiresNew(Work work) throws Exception {
    Transaction suspended = manager.suspend();
    try {
      manager.begin();
      JtaTransactions.transactionBegan();
      work.run();
      manager.commit();
    } finally {
      if (suspended != null) {
        manager.resume(suspended);
      }
    }
  }

  /** Runs a statement as any bean does: on a connection of its own, which it closes. */
  void execute(String sql) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Runs a statement when the transaction ends, as a persistence provider does. */
  void executeLate(String sql) {
    atEnd(() -> execute(sql));
  }

  void atEnd(Work work) {
    registry.registerInterposedSynchronization(
        new Synchronization() {
          @Override
          public void beforeCompletion() {
            try {
              work.run();
            } catch (RuntimeException failure) {
              throw failure;
            } catch (Exception failure) {
              throw new IllegalStateException(failure);
            }
          }

          @Override
          public void afterCompletion(int status) {}
        });
  }

  /** Returns what the pool has complained of: connections that were not given back. */
  List<String> warnings() {
    return warnings;
  }

  @Override
  public void close() {
    pool.close();
  }

  /** What a bean does. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  private final class Listener implements AgroalDataSourceListener {
    @Override
    public void onWarning(String message) {
      warnings.add(message);
    }
  }
}
