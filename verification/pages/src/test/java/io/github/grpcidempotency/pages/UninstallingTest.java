package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code docs/operations/maintenance.md} leaves, and what it does not. */
class UninstallingTest {
  @Test
  void theServiceWorksWithoutTheSchemaAndNoOtherObjectRemains(@TempDir Path directory)
      throws SQLException {
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(RunbookTest.SET_UP);
    Records.make(shop);
    Page page = Page.read("operations/maintenance.md").section("Uninstalling");
    Page.Block.Sql dependents = (Page.Block.Sql) page.blocks().get(0);
    execute(
        shop,
        "CREATE VIEW app.mine AS"
            + " SELECT * FROM app.orders WHERE user_id = idempotency.current_user_id();"
            + "CREATE FUNCTION app.me() RETURNS uuid LANGUAGE sql"
            + " RETURN idempotency.current_user_id();"
            + "CREATE FUNCTION app.me_too() RETURNS uuid LANGUAGE sql"
            + " AS 'SELECT idempotency.current_user_id()';"
            + "CREATE TABLE app.notes"
            + " (user_id uuid DEFAULT idempotency.current_user_id()"
            + " CHECK (user_id <> idempotency.current_user_id()))");
    assertThat(all(shop, dependents.statements()))
        .as("what uses the schema")
        .containsExactly(
            "constraint notes_user_id_check on table app.notes",
            "default value for column user_id of table app.notes",
            "function app.me()",
            "function app.me_too()",
            "policy own_orders on table app.orders",
            "rule _RETURN on view app.mine");
    execute(shop, "DROP VIEW app.mine; DROP FUNCTION app.me, app.me_too; DROP TABLE app.notes");

    shop.run(page);

    assertThat(one(shop, "superuser", "SELECT to_regnamespace('idempotency') IS NULL"))
        .isEqualTo("t");
    for (String role : List.of("shop_operator", "shop_auditor")) {
      assertThat(
              one(
                  shop,
                  "superuser",
                  "SELECT to_regrole('%s') IS NULL".formatted(shop.mapped(role))))
          .isEqualTo("t");
    }
    assertThat(one(shop, "shop_app", "SELECT count(*) FROM app.orders")).isEqualTo("0");
    assertThat(
            one(
                shop,
                "shop_app",
                "SELECT set_config('app.current_user_id', '%s', false)".formatted(Records.USER),
                "SELECT item FROM app.orders"))
        .as("the policy works on")
        .isEqualTo("a lamp");
  }

  private static void execute(Shop shop, String sql) throws SQLException {
    try (Connection connection = shop.connect("shop_owner", "shop").getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Returns the first column of a query. */
  private static List<String> all(Shop shop, String query) throws SQLException {
    try (Connection connection = shop.connect("shop_owner", "shop").getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(1));
      }
      return values;
    }
  }

  /** Returns the first column of the first row of the last query. */
  private static String one(Shop shop, String role, String... queries) throws SQLException {
    try (Connection connection = shop.connect(role, "shop").getConnection();
        Statement statement = connection.createStatement()) {
      String value = "";
      for (String query : queries) {
        try (ResultSet rows = statement.executeQuery(query)) {
          assertThat(rows.next()).as(query).isTrue();
          value = rows.getString(1);
        }
      }
      return value;
    }
  }
}
