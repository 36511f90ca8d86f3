package io.github.grpcidempotency.spring;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

/**
 * Checks that a manager's transactions use the connections of a data source: first by the manager's
 * own data source, and then for each transaction.
 */
final class ManagerCheck {
  private ManagerCheck() {}

  /**
   * Returns the data source that a manager uses for transactions, unwrapped in the same way as by
   * the manager.
   */
  static DataSource targetOf(DataSource dataSource) {
    if (!(dataSource instanceof TransactionAwareDataSourceProxy proxy)) {
      return dataSource;
    }
    DataSource target = proxy.getTargetDataSource();
    if (target == null) {
      throw new IllegalArgumentException(
          "the TransactionAwareDataSourceProxy has no target data source");
    }
    return target;
  }

  static void check(PlatformTransactionManager manager, DataSource dataSource) {
    if (manager instanceof AbstractPlatformTransactionManager synchronizing
        && synchronizing.getTransactionSynchronization()
            == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER) {
      throw new IllegalArgumentException(noSynchronization());
    }
    Optional<Method> getter = dataSourceGetter(manager);
    if (getter.isPresent()) {
      checkSame(manager, value(getter.get(), manager), dataSource);
    }
  }

  /**
   * Returns the connection of the transaction that has just begun. The manager releases the
   * connection at the end.
   *
   * @throws IllegalStateException if there is none, or if no work can be registered before the
   *     commit
   */
  static Connection connection(PlatformTransactionManager manager, DataSource dataSource) {
    if (!TransactionSynchronizationManager.isSynchronizationActive()) {
      throw new IllegalStateException(noSynchronization());
    }
    // Managers of one resource bind the connection when the transaction begins. JTA enlists it at
    // its first use.
    if (manager instanceof ResourceTransactionManager
        && !TransactionSynchronizationManager.hasResource(dataSource)) {
      throw new IllegalStateException(noConnection(manager));
    }
    Connection connection = DataSourceUtils.getConnection(dataSource);
    if (commitsByItself(connection)) {
      DataSourceUtils.releaseConnection(connection, dataSource);
      throw new IllegalStateException(noConnection(manager));
    }
    return connection;
  }

  private static void checkSame(
      PlatformTransactionManager manager, Optional<DataSource> managed, DataSource dataSource) {
    if (managed.isEmpty()) {
      throw new IllegalArgumentException(noConnection(manager));
    }
    Object its = TransactionSynchronizationUtils.unwrapResourceIfNecessary(managed.get());
    if (!its.equals(TransactionSynchronizationUtils.unwrapResourceIfNecessary(dataSource))) {
      throw new IllegalArgumentException(
          ("the transaction manager manages another data source: it manages %s, but"
                  + " HostTransactions was given %s")
              .formatted(managed.get(), dataSource));
    }
  }

  /**
   * Found by reflection, because the managers of JPA and Hibernate, which may not be on the class
   * path, have this method too.
   */
  private static Optional<Method> dataSourceGetter(PlatformTransactionManager manager) {
    try {
      return Optional.of(manager.getClass().getMethod("getDataSource"))
          .filter(method -> DataSource.class.isAssignableFrom(method.getReturnType()));
    } catch (NoSuchMethodException other) {
      return Optional.empty();
    }
  }

  private static Optional<DataSource> value(Method getter, PlatformTransactionManager manager) {
    try {
      return Optional.ofNullable((DataSource) getter.invoke(manager));
    } catch (ReflectiveOperationException failure) {
      throw new IllegalArgumentException(noConnection(manager), failure);
    }
  }

  private static boolean commitsByItself(Connection connection) {
    try {
      return connection.getAutoCommit();
    } catch (SQLException failure) {
      throw new TransactionSystemException("the transaction ended while it began", failure);
    }
  }

  private static String noSynchronization() {
    return "the transaction manager has no transaction synchronization, so the record cannot be"
        + " written in its transactions: set its transactionSynchronization to"
        + " SYNCHRONIZATION_ALWAYS, which is the default";
  }

  private static String noConnection(PlatformTransactionManager manager) {
    return "the transactions of %s do not use a connection of the data source; a manager for JPA"
            .formatted(manager.getClass().getName())
        + " needs the same data source, and a JpaDialect that exposes the connection, such as"
        + " Hibernate's";
  }
}
