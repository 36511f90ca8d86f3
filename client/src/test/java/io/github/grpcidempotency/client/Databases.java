package io.github.grpcidempotency.client;

import com.google.common.io.Resources;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The databases of a server with the library, and of a client service with intents. */
final class Databases {
  private static final PostgresFixture.Builder SHOPS = shops();

  private static final PostgresFixture.Builder PACKING_SHOPS =
      shops().migrate(owner -> run(owner, "packing.sql"));

  private static final PostgresFixture.Builder BUYERS =
      PostgresFixture.withRoles("buyer_owner", "buyer_app")
          .migrate(owner -> run(owner, "migration/V1__intents.sql"))
          .migrate(owner -> run(owner, "buyer.sql"));

  private Databases() {}

  static Database shop() {
    return new Database(SHOPS.create(), "shop_app");
  }

  /** Returns a shop with an outbox. */
  static Database packingShop() {
    return new Database(PACKING_SHOPS.create(), "shop_app");
  }

  static Database buyer() {
    return new Database(BUYERS.create(), "buyer_app");
  }

  /** One database, as its application sees it. */
  record Database(PostgresFixture fixture, String application) {
    String url() {
      return fixture.jdbcUrl(application);
    }

    HikariDataSource pool() {
      return fixture.newPool(10);
    }

    /** Returns the first column of a query, as text, past all row-level security. */
    List<String> column(String sql) {
      return Databases.column(fixture.superuser(), sql);
    }

    /** Changes something as a superuser. */
    void execute(String sql) {
      Databases.execute(fixture.superuser(), sql);
    }
  }

  private static PostgresFixture.Builder shops() {
    return PostgresFixture.withRoles("shop_owner", "shop_app")
        .migrate(IdempotencySchema::migrate)
        .migrate(owner -> run(owner, "shop.sql"));
  }

  private static void run(DataSource owner, String file) throws IOException {
    execute(
        owner,
        Resources.toString(Resources.getResource(Databases.class, file), StandardCharsets.UTF_8));
  }

  static void execute(DataSource database, String sql) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns the first column of a query, as text. */
  static List<String> column(DataSource database, String sql) {
    try (Connection connection = database.getConnection();
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
}
