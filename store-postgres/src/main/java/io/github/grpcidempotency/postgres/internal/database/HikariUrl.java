package io.github.grpcidempotency.postgres.internal.database;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Properties;
import javax.sql.DataSource;

/** The JDBC URL of a HikariCP pool. Only this class depends on HikariCP. */
final class HikariUrl {
  private HikariUrl() {}

  /** Returns the properties of the URL; empty for another pool, or the URL of another driver. */
  static Optional<Properties> of(DataSource pool) throws SQLException {
    if (!pool.isWrapperFor(HikariDataSource.class)) {
      return Optional.empty();
    }
    HikariDataSource hikari = pool.unwrap(HikariDataSource.class);
    return Outage.parse(hikari.getJdbcUrl(), hikari.getDataSourceProperties());
  }
}
