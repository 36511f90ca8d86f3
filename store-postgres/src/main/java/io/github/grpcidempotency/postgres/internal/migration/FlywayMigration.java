package io.github.grpcidempotency.postgres.internal.migration;

import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.exception.FlywayValidateException;

/**
 * Runs the migrations. Only this class uses Flyway, so all other classes can be loaded without
 * Flyway.
 */
public final class FlywayMigration {
  private static final String LOCATION = "classpath:io/github/grpcidempotency/postgres/migration";

  private FlywayMigration() {}

  public static void run(DataSource owner, String schema) {
    try {
      Flyway.configure(FlywayMigration.class.getClassLoader())
          .dataSource(owner)
          .schemas(schema)
          .locations(LOCATION)
          .placeholders(Map.of("schema", schema))
          .load()
          .migrate();
    } catch (FlywayValidateException others) {
      throw new FlywayException(
          ("the schema %s was migrated with other files than the library's: give your own"
                  + " migrations another schema, for example with Flyway's schemas setting")
              .formatted(schema),
          others);
    }
  }
}
