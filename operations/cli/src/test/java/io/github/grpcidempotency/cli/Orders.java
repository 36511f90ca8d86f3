package io.github.grpcidempotency.cli;

import com.google.common.io.Resources;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;

/** The database of a service that takes orders, with the roles of its operators. */
final class Orders {
  static final String OWNER = "orders_owner";
  static final String APP = "orders_app";

  /** May act, and not read what is recorded. */
  static final String OPERATOR = "shop_operator";

  /** May read what is recorded too. */
  static final String AUDITOR = "shop_auditor";

  /** May nothing. */
  static final String STRANGER = "orders_stranger";

  private static final PostgresFixture.Builder MIGRATED =
      PostgresFixture.withRoles(OWNER, APP)
          .migrate(IdempotencySchema::migrate)
          .migrate(owner -> run(owner, file("orders.sql")));

  private static final PostgresFixture.Builder EMPTY = PostgresFixture.withRoles(OWNER, APP);

  private Orders() {}

  static PostgresFixture create() {
    createRoles();
    return MIGRATED.create();
  }

  /** Returns a database without any schema. */
  static PostgresFixture unmigrated() {
    return EMPTY.create();
  }

  /** Fills in the operations that the reference page shows. */
  static void insertOperations(PostgresFixture database) throws SQLException {
    run(database.superuser(), file("operations.sql"));
  }

  /** Returns the environment of an operator. */
  static Map<String, String> operator(PostgresFixture database) {
    return Map.of(
        "IDEMPOTENCY_URL",
        url(database),
        "IDEMPOTENCY_USER",
        OPERATOR,
        "IDEMPOTENCY_ACTOR",
        "ada@console-1");
  }

  /** Returns the database's URL, which names no role. */
  static String url(PostgresFixture database) {
    return database.jdbcUrl(OWNER).replaceFirst("\\?.*", "");
  }

  static void run(DataSource role, String sql) throws SQLException {
    try (Connection connection = role.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  static String file(String name) {
    try {
      return Resources.toString(Resources.getResource(Orders.class, name), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Roles belong to the whole server: the migrations of each database grant rights to them. */
  static void createRoles() {
    try (PostgresFixture server = EMPTY.create()) {
      run(server.superuser(), file("roles.sql"));
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
