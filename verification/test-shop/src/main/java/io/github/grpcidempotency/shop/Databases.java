package io.github.grpcidempotency.shop;

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

/** The databases of the shop. */
public final class Databases {
  private static final PostgresFixture.Builder SHOPS = shops();

  private static final PostgresFixture.Builder PACKING_SHOPS =
      shops().migrate(owner -> run(owner, Databases.class, "packing.sql"));

  private Databases() {}

  /** Returns a shop. */
  public static Database shop() {
    return new Database(SHOPS.create(), "shop_app");
  }

  /** Returns a shop with an outbox. */
  public static Database packingShop() {
    return new Database(PACKING_SHOPS.create(), "shop_app");
  }

  /** One database, as its application sees it. */
  public record Database(PostgresFixture fixture, String application) {
    public String url() {
      return fixture.jdbcUrl(application);
    }

    public HikariDataSource pool() {
      return fixture.newPool(10);
    }

    /** Returns the first column of a query, as text, past all row-level security. */
    public List<String> column(String sql) {
      return Databases.column(fixture.superuser(), sql);
    }

    /** Changes something as a superuser. */
    public void execute(String sql) {
      Databases.execute(fixture.superuser(), sql);
    }
  }

  private static PostgresFixture.Builder shops() {
    return PostgresFixture.withRoles("shop_owner", "shop_app")
        .migrate(IdempotencySchema::migrate)
        .migrate(owner -> run(owner, Databases.class, "shop.sql"));
  }

  /** Runs a file that is beside a class. */
  public static void run(DataSource owner, Class<?> near, String file) throws IOException {
    execute(owner, Resources.toString(Resources.getResource(near, file), StandardCharsets.UTF_8));
  }

  /** Runs statements. */
  public static void execute(DataSource database, String sql) {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns the first column of a query, as text. */
  public static List<String> column(DataSource database, String sql) {
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
