package io.github.grpcidempotency.quickstart;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.*;
import java.time.Duration;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** A database with two roles: shop_owner owns the tables, shop_app serves calls. */
record Database(String url) {
  /** Starts PostgreSQL, which stops with this process. */
  static Database embedded() throws IOException, SQLException {
    EmbeddedPostgres postgres =
        EmbeddedPostgres.builder().setPGStartupWait(Duration.ofMinutes(1)).start();
    try (Connection superuser = postgres.getPostgresDatabase().getConnection();
        Statement statement = superuser.createStatement()) {
      statement.execute("CREATE ROLE shop_owner LOGIN; CREATE ROLE shop_app LOGIN");
      statement.execute("CREATE DATABASE shop OWNER shop_owner");
    }
    return new Database("jdbc:postgresql://localhost:" + postgres.getPort() + "/shop");
  }

  static void migrate(DataSource owner) {
    IdempotencySchema.migrate(owner); // the library's schema first, then the service's own
    Flyway.configure().dataSource(owner).schemas("shop").locations("shop").load().migrate();
  }

  HikariDataSource pool(String role) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(url);
    pool.setUsername(role);
    pool.addDataSourceProperty("socketTimeout", "10"); // seconds; shorter than a lease
    return pool;
  }
}
