package io.github.grpcidempotency.host.quarkus;

import io.github.grpcidempotency.testing.PostgresFixture;
import io.quarkus.test.common.QuarkusTestResourceLifecycleManager;
import java.util.Map;

/** An empty database with the two roles of the service, which migrates it. */
public class Database implements QuarkusTestResourceLifecycleManager {
  private static final PostgresFixture DATABASE =
      PostgresFixture.withRoles("shop_owner", "shop_app").create();

  @Override
  public Map<String, String> start() {
    return Map.of(
        "shop.jdbc.url", url(),
        "test.superuser.url", DATABASE.jdbcUrl("postgres"),
        "quarkus.http.test-port", "0");
  }

  /** Leaves out who connects: each data source says so. */
  private static String url() {
    String url = DATABASE.jdbcUrl("shop_app");
    return url.contains("?") ? url.substring(0, url.indexOf('?')) : url;
  }

  @Override
  public void stop() {
    DATABASE.close();
  }
}
