package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/**
 * Two sets of migrations, each with its own history: the library's, then the service's own, which
 * registers its resources and its roles with the library.
 */
public final class OrganizationSchema {
  private OrganizationSchema() {}

  /**
   * Migrates both to the current version.
   *
   * @param owner connects as the role that owns the schemas
   * @param appRole serves calls
   * @param workerRole drains the outbox and runs the job
   * @throws org.flywaydb.core.api.FlywayException if a migration fails
   */
  public static void migrate(DataSource owner, String appRole, String workerRole) {
    IdempotencySchema.migrate(owner);
    Flyway.configure()
        .dataSource(owner)
        .schemas("tenant")
        .locations("classpath:db/example")
        .placeholders(Map.of("app_role", appRole, "worker_role", workerRole))
        .load()
        .migrate();
  }
}
