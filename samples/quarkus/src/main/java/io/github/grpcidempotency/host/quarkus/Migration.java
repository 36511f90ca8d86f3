package io.github.grpcidempotency.host.quarkus;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.quarkus.agroal.DataSource;
import jakarta.inject.Singleton;
import org.flywaydb.core.Flyway;

/** Migrates the library's schema first, and then the service's own. */
@Singleton
class Migration {
  private final javax.sql.DataSource owner;

  Migration(@DataSource("owner") javax.sql.DataSource owner) {
    this.owner = owner;
  }

  void run() {
    IdempotencySchema.migrate(owner);
    Flyway.configure().dataSource(owner).schemas("shop").locations("shop").load().migrate();
  }
}
