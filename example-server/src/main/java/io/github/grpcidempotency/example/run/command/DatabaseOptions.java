package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.database.HostDatabase;
import io.github.grpcidempotency.example.run.database.Login;
import io.github.grpcidempotency.example.run.database.OwnDatabase;
import io.github.grpcidempotency.example.run.database.Roles;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.flywaydb.core.api.FlywayException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which database the server uses. */
final class DatabaseOptions {
  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      defaultValue = "example-data",
      description =
          "where the embedded PostgreSQL keeps its data, from one start to the next (default: ${DEFAULT-VALUE})")
  private Path dataDirectory = Path.of("example-data");

  @Option(
      names = "--jdbc-url",
      paramLabel = "URL",
      description =
          "a PostgreSQL of your own instead of the embedded one, such as jdbc:postgresql://localhost:5432/example; src/main/resources/db/roles.sql says which roles it needs")
  private Optional<String> jdbcUrl = Optional.empty();

  @Option(
      names = "--app-user",
      paramLabel = "ROLE",
      description =
          "with --jdbc-url: the role that serves calls (default: the user in the URL, or else example_app)")
  private Optional<String> appUser = Optional.empty();

  @Option(
      names = "--app-password",
      paramLabel = "PASSWORD",
      defaultValue = "${env:EXAMPLE_APP_PASSWORD:-}",
      description =
          "its password (default: from the environment, EXAMPLE_APP_PASSWORD, or else the one in the URL)")
  private String appPassword = "";

  @Option(
      names = "--worker-user",
      paramLabel = "ROLE",
      defaultValue = Roles.WORKER,
      description = "with --jdbc-url: the role that drains the outbox (default: ${DEFAULT-VALUE})")
  private String workerUser = Roles.WORKER;

  @Option(
      names = "--worker-password",
      paramLabel = "PASSWORD",
      defaultValue = "${env:EXAMPLE_WORKER_PASSWORD:-}",
      description = "its password (default: from the environment, EXAMPLE_WORKER_PASSWORD)")
  private String workerPassword = "";

  @Option(
      names = "--owner-user",
      paramLabel = "ROLE",
      defaultValue = Roles.OWNER,
      description =
          "with --jdbc-url: the role that runs the migrations (default: ${DEFAULT-VALUE})")
  private String ownerUser = Roles.OWNER;

  @Option(
      names = "--owner-password",
      paramLabel = "PASSWORD",
      defaultValue = "${env:EXAMPLE_OWNER_PASSWORD:-}",
      description = "its password (default: from the environment, EXAMPLE_OWNER_PASSWORD)")
  private String ownerPassword = "";

  @Option(
      names = "--no-migrate",
      description = "with --jdbc-url: expect a migrated database, and do without the owner")
  private boolean noMigrate;

  /**
   * Checks how the options were combined, before anything is started.
   *
   * @param command that has these options
   * @throws ParameterException if an option would have no effect
   */
  void check(CommandSpec command) {
    OptionRules rules = new OptionRules(command);
    rules.notBeside("--jdbc-url", List.of("--data-dir"));
    rules.notWithout(
        "--jdbc-url",
        List.of(
            "--app-user",
            "--app-password",
            "--worker-user",
            "--worker-password",
            "--owner-user",
            "--owner-password",
            "--no-migrate"));
    rules.notBeside("--no-migrate", List.of("--owner-user", "--owner-password"));
  }

  /** Where the server keeps its files; empty if the database is the user's own. */
  Optional<DataFiles> files() {
    return jdbcUrl.isPresent() ? Optional.empty() : Optional.of(new DataFiles(dataDirectory));
  }

  /**
   * Connects to the database, or starts it.
   *
   * @throws StartupFailure if it cannot be used
   */
  HostDatabase open() {
    return jdbcUrl.map(this::own).orElseGet(() -> EmbeddedDatabase.start(dataDirectory));
  }

  private HostDatabase own(String url) {
    return OwnDatabase.connect(
        url,
        new Login(appUser.or(() -> OwnDatabase.userIn(url)).orElse(Roles.APP), appPassword),
        new Login(workerUser, workerPassword),
        new Login(ownerUser, ownerPassword));
  }

  /**
   * Brings the schema up to date, unless the options say otherwise.
   *
   * @throws StartupFailure if it cannot
   */
  void migrate(HostDatabase database) {
    try {
      if (!noMigrate) {
        database.migrate();
      }
    } catch (FlywayException e) {
      throw StartupFailure.because("The database could not be migrated", e);
    }
  }
}
