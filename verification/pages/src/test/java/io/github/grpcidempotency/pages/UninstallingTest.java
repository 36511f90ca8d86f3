package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code docs/operations/maintenance.md} leaves, and what it does not. */
class UninstallingTest {
  @Test
  void theServiceWorksOnAndNothingElseIsLeft(@TempDir Path directory) throws SQLException {
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(RunbookTest.SET_UP);
    Records.make(shop);
    Page page = Page.read("operations/maintenance.md").section("Uninstalling");
    Page.Block.Sql dependents = (Page.Block.Sql) page.blocks().get(0);
    assertThat(one(shop, "shop_owner", dependents.statements()))
        .as("what uses the schema")
        .isEqualTo("app.orders");

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
