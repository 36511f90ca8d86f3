package io.github.grpcidempotency.postgres.internal.migration;

import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/**
 * Runs the migrations. Only this class uses Flyway, so all other classes can be loaded without
 * Flyway.
 */
public final class FlywayMigration {
  private static final String LOCATION = "classpath:io/github/grpcidempotency/postgres/migration";

  private FlywayMigration() {}

  public static void run(DataSource owner, String schema) {
    Flyway.configure(FlywayMigration.class.getClassLoader())
        .dataSource(owner)
        .schemas(schema)
        .locations(LOCATION)
        .placeholders(Map.of("schema", schema))
        .load()
        .migrate();
  }
}
