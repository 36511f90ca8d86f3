package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.store.SetupException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code docs/operations/maintenance.md} says of an owner with another name. */
class OwnerTest {
  @Test
  void underAnotherOwnerNothingIsSweptUntilThePoliciesNameTheOwner(@TempDir Path directory)
      throws SQLException {
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(RunbookTest.SET_UP);
    Records.make(shop);
    execute(shop, "UPDATE idempotency.idempotency_keys SET expires = now() - interval '1 hour'");
    execute(shop, "CREATE ROLE shop_new");
    execute(shop, "REASSIGN OWNED BY shop_owner TO shop_new");

    assertThat(swept(shop)).isZero();
    assertThatThrownBy(() -> Records.replayed(shop.connect("shop_app", "shop")))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("renew");

    execute(shop, "ALTER POLICY maintenance ON idempotency.idempotency_keys TO shop_new");
    execute(shop, "ALTER POLICY operators ON idempotency.idempotency_keys TO shop_new");
    assertThat(swept(shop)).isEqualTo(2);
  }

  private static void execute(Shop shop, String sql) throws SQLException {
    try (Connection connection = shop.connect("superuser", "shop").getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(shop.mapped(sql));
    }
  }

  private static int swept(Shop shop) throws SQLException {
    try (Connection connection = shop.connect("shop_app", "shop").getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT idempotency.sweep_expired(10)")) {
      row.next();
      return row.getInt(1);
    }
  }
}
