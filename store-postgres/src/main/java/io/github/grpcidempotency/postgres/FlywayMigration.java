package io.github.grpcidempotency.postgres;

import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** The only class that uses Flyway, so that everything else links without it. */
final class FlywayMigration {
  private static final String LOCATION = "classpath:io/github/grpcidempotency/postgres/migration";

  private FlywayMigration() {}

  static void run(DataSource owner, String schema) {
    Flyway.configure(FlywayMigration.class.getClassLoader())
        .dataSource(owner)
        .schemas(schema)
        .locations(LOCATION)
        .placeholders(Map.of("schema", schema))
        .load()
        .migrate();
  }
}
