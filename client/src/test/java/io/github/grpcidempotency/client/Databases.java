package io.github.grpcidempotency.client;

import com.google.common.base.Suppliers;
import com.google.common.io.Resources;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;

/** Databases on one PostgreSQL, each with an owner and a role that serves. */
final class Databases {
  private static final Supplier<EmbeddedPostgres> SERVER =
      Suppliers.memoize(Databases::startServer);
  private static final AtomicInteger created = new AtomicInteger();

  private Databases() {}

  /** One database, as its application sees it. */
  record Database(EmbeddedPostgres server, String name, String role) {
    String url() {
      return server.getJdbcUrl(role, name);
    }

    HikariDataSource pool() {
      return Databases.pool(url());
    }

    /** Returns the first column of a query, as text, past all row-level security. */
    List<String> column(String sql) {
      try (Connection connection = server.getDatabase("postgres", name).getConnection();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery(sql)) {
        List<String> column = new ArrayList<>();
        while (rows.next()) {
          column.add(rows.getString(1));
        }
        return column;
      } catch (SQLException failure) {
        throw new IllegalStateException(failure);
      }
    }

    /** Changes something as a superuser. */
    void execute(String sql) {
      Databases.execute(server.getDatabase("postgres", name), sql);
    }
  }

  static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(10);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }

  /** Creates the database of a server with the library. */
  static Database shop() {
    Database database = create("shop", "shop_app");
    DataSource owner = SERVER.get().getDatabase("shop_owner", database.name());
    IdempotencySchema.migrate(owner);
    execute(owner, resource("shop.sql"));
    return database;
  }

  /** Creates the database of a client service, with intents. */
  static Database buyer() {
    Database database = create("buyer", "buyer_app");
    DataSource owner = SERVER.get().getDatabase("buyer_owner", database.name());
    execute(owner, resource("migration/V1__intents.sql"));
    execute(owner, resource("buyer.sql"));
    return database;
  }

  private static Database create(String kind, String role) {
    String name = kind + "_" + created.incrementAndGet();
    execute(
        SERVER.get().getPostgresDatabase(),
        "CREATE DATABASE %s OWNER %s_owner".formatted(name, kind));
    return new Database(SERVER.get(), name, role);
  }

  private static EmbeddedPostgres startServer() {
    try {
      EmbeddedPostgres server = EmbeddedPostgres.start();
      for (String role : List.of("shop_owner", "shop_app", "buyer_owner", "buyer_app")) {
        execute(
            server.getPostgresDatabase(), "CREATE ROLE " + role + " LOGIN NOSUPERUSER NOBYPASSRLS");
      }
      return server;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void execute(DataSource database, String sql) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  private static String resource(String name) {
    try {
      return Resources.toString(
          Resources.getResource(Databases.class, name), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
