package io.github.grpcidempotency.cli;

import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Migrates the schema, or prints the SQL. */
@Command(
    name = "migrate",
    sortOptions = false,
    description =
        "Migrates the schema to this release with Flyway, as the role that owns it. With"
            + " --sql, connects to no database and prints the complete SQL for another tool. Use"
            + " only one of the two: Flyway refuses a schema that another tool created.",
    footer = {
      "",
      "Examples:",
      "  idempotency migrate --user orders_owner",
      "  idempotency migrate --sql | psql --set ON_ERROR_STOP=1 \"$OWNER_URL\"",
      "  idempotency migrate --sql --after 3 > upgrade.sql",
      "  idempotency migrate --partitions --user orders_owner"
    })
final class Migrate implements Callable<Integer> {
  private final Surroundings surroundings;

  @Option(names = "--sql", description = "Prints the SQL, with the schema's name filled in.")
  private boolean sql;

  @Option(
      names = "--after",
      paramLabel = "VERSION",
      description =
          "With --sql: only the migrations after this version, which is the schema's"
              + " current version.")
  private Optional<Integer> after = Optional.empty();

  @Option(
      names = "--partitions",
      description =
          "Also creates the functions that move a large table to partitions. With --sql:"
              + " prints only their SQL.")
  private boolean partitions;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  Migrate(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws SQLException {
    if (sql) {
      print(Database.schema(connection, surroundings));
    } else if (after.isPresent()) {
      throw new CommandFailure(ExitCode.USAGE, "--after needs --sql");
    } else {
      migrate();
    }
    return ExitCode.OK.code();
  }

  private void print(String schema) {
    try {
      surroundings.out().print(script(schema));
    } catch (IllegalArgumentException noSuchVersion) {
      throw new CommandFailure(
          ExitCode.USAGE, String.valueOf(noSuchVersion.getMessage()), noSuchVersion);
    }
  }

  private String script(String schema) {
    if (partitions) {
      return IdempotencySchema.partitions(schema);
    }
    return after.isPresent()
        ? IdempotencySchema.sqlAfter(schema, after.get())
        : IdempotencySchema.sql(schema);
  }

  private void migrate() throws SQLException {
    Database database = Database.connect(connection, surroundings);
    SchemaState before = SchemaState.of(database);
    if (before.isOfAnotherTool()) {
      throw ofAnotherTool(database.schema(), before.version());
    }
    if (before.isSuperuser()) {
      surroundings
          .err()
          .println(
              ("%s is a superuser and will own the tables: migrate as a role without that right"
                      + " instead")
                  .formatted(database.role()));
    }
    run(database);
    if (partitions) {
      createPartitionFunctions(database);
    }
    tell(database.schema(), before.versions(), SchemaState.of(database).versions());
  }

  private static void run(Database database) {
    try {
      IdempotencySchema.migrate(database.dataSource(), database.schema());
    } catch (IllegalStateException wrong) {
      throw new CommandFailure(ExitCode.WRONG_SCHEMA, String.valueOf(wrong.getMessage()), wrong);
    }
  }

  private static CommandFailure ofAnotherTool(String schema, int version) {
    boolean complete = !IdempotencySchema.sqlAfter(schema, version).contains("CREATE ");
    return new CommandFailure(
        ExitCode.WRONG_SCHEMA,
        "the schema %s was not created by Flyway: %s"
            .formatted(
                schema,
                complete
                    ? "it is at version %d already, and has nothing to migrate".formatted(version)
                    : "give the tool that created it the output of idempotency migrate --sql"
                        + " --after %d --schema %s".formatted(version, schema)));
  }

  private static void createPartitionFunctions(Database database) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(IdempotencySchema.partitions(database.schema()));
    }
  }

  private void tell(String schema, List<String> before, List<String> now) {
    List<String> applied = now.stream().filter(version -> !before.contains(version)).toList();
    String version = now.isEmpty() ? "0" : now.get(now.size() - 1);
    if (applied.isEmpty()) {
      surroundings
          .out()
          .println(
              "The schema %s is at version %s already.%s"
                  .formatted(schema, version, partitions ? "" : " Nothing was changed."));
    } else {
      surroundings
          .out()
          .println(
              "The schema %s is now at version %s; applied: %s."
                  .formatted(schema, version, String.join(", ", applied)));
    }
    if (partitions) {
      surroundings.out().println("The functions for partitions were created.");
    }
  }
}
