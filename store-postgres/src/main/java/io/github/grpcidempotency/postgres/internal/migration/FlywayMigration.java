package io.github.grpcidempotency.postgres.internal.migration;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
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
    } catch (RuntimeException failed) {
      throw explained(failed, schema);
    }
    checkThatNothingIsMissing(owner, schema);
  }

  /** Flyway's history does not show what somebody has dropped since. */
  private static void checkThatNothingIsMissing(DataSource owner, String schema) {
    String missing;
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(SchemaObjects.missing(schema, MigrationSql.FILES.size()))) {
      row.next();
      missing = row.getString(1);
    } catch (SQLException failure) {
      throw new IllegalStateException(
          "the schema %s was migrated, and could not be read".formatted(schema), failure);
    }
    if (missing != null) {
      throw new IllegalStateException(SchemaObjects.damage(schema, missing));
    }
  }

  /**
   * No signature and no catch names a class of Flyway, so that this class can be linked without.
   */
  private static RuntimeException explained(RuntimeException failed, String schema) {
    return failed instanceof FlywayValidateException
        ? new IllegalStateException(
            ("the schema %s was migrated with other files than the library's: give your own"
                    + " migrations another schema, for example with Flyway's schemas setting")
                .formatted(schema),
            failed)
        : failed;
  }
}
