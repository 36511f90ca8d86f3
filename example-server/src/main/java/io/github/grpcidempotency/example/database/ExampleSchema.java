package io.github.grpcidempotency.example.database;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/**
 * Two sets of migrations, each with its own history: the library's, then the host's, which tells
 * the library of its resources and its application role.
 */
final class ExampleSchema {
  private static final String LOCATION = "classpath:db/example";

  private ExampleSchema() {}

  static void migrate(DataSource owner, String appRole, String workerRole) {
    try {
      IdempotencySchema.migrate(owner);
      Flyway.configure()
          .dataSource(owner)
          .schemas("tenant")
          .locations(LOCATION)
          .placeholders(Map.of("app_role", appRole, "worker_role", workerRole))
          .load()
          .migrate();
    } catch (FlywayException e) {
      throw StartupFailure.because("The database could not be migrated", e);
    }
  }
}
