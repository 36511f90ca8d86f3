package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/**
 * The cloud provider of both servers. Its table stands for another company's database: a sale is
 * committed on a connection of its own, and no rollback of a handler undoes it.
 */
final class CloudTable implements CloudProvider {
  private final Jdbi jdbi;

  CloudTable(DataSource superuser) {
    this.jdbi = Jdbi.create(superuser);
  }

  void create() {
    jdbi.useHandle(
        handle ->
            handle.execute(
                """
                CREATE SCHEMA cloud;
                CREATE TABLE cloud.sales (key text PRIMARY KEY, region text, machine text);
                """));
  }

  /** Ignores the region of a second purchase with the same key: no scene changes it. */
  @Override
  public String buy(String region, String key) {
    return jdbi.withHandle(
        handle -> {
          handle.execute(
              "INSERT INTO cloud.sales VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
              key,
              region,
              "machine-" + UUID.randomUUID());
          return handle
              .select("SELECT machine FROM cloud.sales WHERE key = ?", key)
              .mapTo(String.class)
              .one();
        });
  }
}
