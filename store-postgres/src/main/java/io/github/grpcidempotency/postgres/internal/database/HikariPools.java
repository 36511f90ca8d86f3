package io.github.grpcidempotency.postgres.internal.database;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.github.grpcidempotency.store.SetupException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import javax.sql.DataSource;

/**
 * Derives the store's own pool from the service's HikariCP pool. Only this class depends on
 * HikariCP, which the service's class path may lack.
 */
final class HikariPools {
  private static final String SUFFIX = "-idempotency";

  private static final boolean PRESENT =
      StoreConnections.classOf(
              "com.zaxxer.hikari.HikariDataSource", HikariPools.class.getClassLoader())
          .isPresent();

  private HikariPools() {}

  /** A pool with the settings of another one, and always with its present user and password. */
  private static final class Derived extends HikariDataSource {
    private final HikariDataSource service;

    Derived(HikariDataSource service) {
      this.service = service;
      service.copyStateTo(this);
      setPoolName(Optional.ofNullable(service.getPoolName()).orElse("service") + SUFFIX);
      setMaximumPoolSize(StoreConnections.SIZE);
      int idle = service.getMinimumIdle(); // negative if it is not set
      setMinimumIdle(idle < 0 ? StoreConnections.SIZE : Math.min(idle, StoreConnections.SIZE));
      setAutoCommit(true);
      setReadOnly(false);
      setTransactionIsolation(null);
      setLeakDetectionThreshold(0); // the watch keeps its connection
      setInitializationFailTimeout(-1); // only the start-up check decides whether the server starts
    }

    @Override
    public Connection getConnection() throws SQLException {
      if (getMetricsTrackerFactory() == null && service.getMetricsTrackerFactory() != null) {
        takeMetrics();
      }
      return super.getConnection();
    }

    /** Frameworks such as Spring Boot set the metrics of the service's pool after the start. */
    private synchronized void takeMetrics() {
      if (getMetricsTrackerFactory() == null) {
        setMetricsTrackerFactory(service.getMetricsTrackerFactory());
      }
    }

    @Override
    public Credentials getCredentials() {
      return service.getCredentials();
    }
  }

  /**
   * Returns connections of a new pool like the service's, which connects when it is first used;
   * empty if the service has another kind of pool.
   */
  static Optional<StoreConnections> deriveFrom(DataSource service) {
    return PRESENT
        ? StoreConnections.unwrap(service, HikariDataSource.class).map(HikariPools::derived)
        : Optional.empty();
  }

  private static StoreConnections derived(HikariDataSource service) {
    Derived pool = new Derived(service);
    long patience = Math.min(service.getConnectionTimeout(), StoreConnections.MAX_WAIT.toMillis());
    return new StoreConnections(pool, pool::close, Duration.ofMillis(patience));
  }

  /** Returns what the driver reads from a pool's URL; empty for another kind of pool. */
  static Optional<Properties> urlOf(DataSource pool) {
    return PRESENT
        ? StoreConnections.unwrap(pool, HikariDataSource.class)
            .flatMap(hikari -> Outage.parse(hikari.getJdbcUrl(), hikari.getDataSourceProperties()))
        : Optional.empty();
  }

  /** Throws if a pool of HikariCP has too few connections for a store. */
  static void checkSize(DataSource given) {
    if (PRESENT) {
      StoreConnections.unwrap(given, HikariDataSource.class)
          .map(HikariDataSource::getMaximumPoolSize)
          .filter(size -> size < StoreConnections.SIZE)
          .ifPresent(HikariPools::refuse);
    }
  }

  private static void refuse(int size) {
    throw new SetupException(
        List.of(
            "the store's pool has %d connections and needs %d: set its maximumPoolSize"
                .formatted(size, StoreConnections.SIZE)));
  }
}
