package io.github.grpcidempotency.postgres.internal.database;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.github.grpcidempotency.procedure.SetupException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Derives the store's own pool from the service's HikariCP pool. Only this class depends on
 * HikariCP, and it is used only if the service's class path has HikariCP.
 */
final class HikariPools {
  private static final String SUFFIX = "-idempotency";

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
    public Credentials getCredentials() {
      return service.getCredentials();
    }
  }

  /**
   * Returns connections of a new pool like the service's, which connects when it is first used;
   * empty if the service has another kind of pool.
   */
  static Optional<StoreConnections> deriveFrom(DataSource service) {
    return StoreConnections.unwrap(service, HikariDataSource.class)
        .map(
            hikari -> {
              Derived pool = new Derived(hikari);
              long patience =
                  Math.min(hikari.getConnectionTimeout(), StoreConnections.MAX_WAIT.toMillis());
              return new StoreConnections(pool, pool::close, Duration.ofMillis(patience));
            });
  }

  /** Throws if a pool of HikariCP has too few connections for a store. */
  static void checkSize(DataSource given) {
    StoreConnections.unwrap(given, HikariDataSource.class)
        .filter(pool -> pool.getMaximumPoolSize() < StoreConnections.SIZE)
        .ifPresent(
            small -> {
              throw new SetupException(
                  List.of(
                      "the store's pool has %d connections and needs %d: set its maximumPoolSize"
                          .formatted(small.getMaximumPoolSize(), StoreConnections.SIZE)));
            });
  }
}
