package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/**
 * Two sets of migrations, each with its own history: the library's, then the service's own, which
 * registers its resources and its application role with the library.
 */
public final class OrganizationSchema {
  private static final String LOCATION = "classpath:db/example";

  private OrganizationSchema() {}

  /**
   * Brings both up to date.
   *
   * @param owner connects as the role that owns the schemas
   * @param appRole serves calls
   * @param workerRole drains the outbox and runs the job
   * @param operatorRole looks at keys, and frees or forgets them; need not exist
   * @throws org.flywaydb.core.api.FlywayException if that fails
   */
  public static void migrate(
      DataSource owner, String appRole, String workerRole, String operatorRole) {
    IdempotencySchema.migrate(owner);
    Flyway.configure()
        .dataSource(owner)
        .schemas("tenant")
        .locations(LOCATION)
        .placeholders(
            Map.of("app_role", appRole, "worker_role", workerRole, "operator_role", operatorRole))
        .load()
        .migrate();
  }
}
