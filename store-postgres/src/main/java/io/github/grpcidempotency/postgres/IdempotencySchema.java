package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.internal.migration.FlywayMigration;
import io.github.grpcidempotency.postgres.internal.migration.MigrationSql;
import io.github.grpcidempotency.proto.Experimental;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * The library's own schema: its table and functions, migrated by Flyway from their own location
 * with their own history table, so that they do not interfere with the service's migrations. A
 * service without Flyway runs the same SQL files with another tool: {@code
 * docs/how-to/migrations.md}.
 *
 * <p>Run the migrations as the role that will own the table. This must not be the application's
 * role. The service's own migration then calls {@code idempotency.add_resource_type(name, table,
 * column)} once per {@link io.github.grpcidempotency.resource.ResourceType} and {@code
 * idempotency.grant_to(application_role)}.
 */
public final class IdempotencySchema {
  /** The default name of the schema. */
  public static final String DEFAULT_NAME = "idempotency";

  private static final Pattern NAME = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  private IdempotencySchema() {}

  /**
   * Brings the schema up to date, in {@link #DEFAULT_NAME}. Does nothing if the schema is up to
   * date already. Blocks.
   *
   * @param owner connects as the role that owns, or will own, the table
   * @throws org.flywaydb.core.api.FlywayException if a migration fails; it is rolled back
   * @throws IllegalStateException if Flyway is not on the class path, or has migrated the schema
   *     with other files than the library's, or if something that a migration created is missing
   */
  public static void migrate(DataSource owner) {
    migrate(owner, DEFAULT_NAME);
  }

  /**
   * Brings the schema up to date.
   *
   * @param owner connects as the role that owns, or will own, the table
   * @param schema the schema's name
   * @throws IllegalArgumentException if the name is not a plain lower case identifier
   * @throws org.flywaydb.core.api.FlywayException if a migration fails; it is rolled back
   * @throws IllegalStateException if Flyway is not on the class path, or has migrated the schema
   *     with other files than the library's, or if something that a migration created is missing
   */
  public static void migrate(DataSource owner, String schema) {
    checkName(schema);
    demandFlyway();
    FlywayMigration.run(owner, schema);
  }

  /**
   * Returns all migrations as one script in one transaction, for tools other than Flyway. {@code
   * psql} and the JDBC driver can run the script unchanged.
   *
   * @param schema the schema's name; the script creates the schema
   * @throws IllegalArgumentException if the name is not a plain lower case identifier
   */
  public static String sql(String schema) {
    return sqlAfter(schema, 0);
  }

  /**
   * Returns the migrations that are missing in a schema that {@link #sql} of an earlier release
   * created.
   *
   * @param schema the schema's name
   * @param version the version of the schema, which is the version of the last migration file that
   *     was run
   * @throws IllegalArgumentException if the name is not a plain lower case identifier, or there is
   *     no such version
   */
  public static String sqlAfter(String schema, int version) {
    return MigrationSql.script(checkName(schema), version);
  }

  /**
   * Returns a script that creates the functions {@code partition_keys}, {@code move_to_partitions}
   * and {@code abort_move}, which move the table of keys to partitions. Run the script after the
   * migrations, as the owner of the table, and then call one of the functions: {@code
   * docs/operations/partitions.md}. The script can be run again.
   *
   * @param schema the schema's name
   * @throws IllegalArgumentException if the name is not a plain lower case identifier
   */
  @Experimental
  public static String partitions(String schema) {
    return MigrationSql.partitions(checkName(schema));
  }

  private static void demandFlyway() {
    try {
      Class.forName("org.flywaydb.core.Flyway", false, IdempotencySchema.class.getClassLoader());
    } catch (ClassNotFoundException absent) {
      throw new IllegalStateException(
          "Flyway is not on the class path: add org.flywaydb:flyway-core and"
              + " org.flywaydb:flyway-database-postgresql, or run the SQL files in the library's"
              + " jar with another tool, as the page \"Migrations without Flyway\" of the"
              + " documentation describes",
          absent);
    }
  }

  static String checkName(String schema) {
    if (!NAME.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "the name of a schema must be a plain lower case identifier, not \"" + schema + "\"");
    }
    return schema;
  }
}
