package io.github.grpcidempotency.example.cli;

import io.github.grpcidempotency.example.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.database.HostDatabase;
import io.github.grpcidempotency.example.database.Login;
import io.github.grpcidempotency.example.database.OwnDatabase;
import io.github.grpcidempotency.example.database.Roles;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Which database the server uses. */
public final class DatabaseOptions {
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
      description = "its password (default: from the environment, EXAMPLE_APP_PASSWORD)")
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
      negatable = false,
      description = "with --jdbc-url: expect a migrated database, and do without the owner")
  private boolean noMigrate;

  /** Where the server keeps its files; empty if the database is the user's own. */
  public Optional<Path> directory() {
    return jdbcUrl.isPresent() ? Optional.empty() : Optional.of(dataDirectory);
  }

  /** Connects to the database, or starts it, and brings its schema up to date. */
  public HostDatabase open() {
    HostDatabase database = jdbcUrl.map(this::own).orElseGet(this::embedded);
    try {
      if (jdbcUrl.isEmpty() || !noMigrate) {
        database.migrate();
      }
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private HostDatabase own(String url) {
    return OwnDatabase.connect(
        url,
        appLogin(url),
        new Login(workerUser, workerPassword),
        new Login(ownerUser, ownerPassword));
  }

  private Login appLogin(String url) {
    return appUser
        .map(user -> new Login(user, appPassword))
        .or(() -> OwnDatabase.loginIn(url))
        .orElseGet(() -> new Login(Roles.APP, appPassword));
  }

  private HostDatabase embedded() {
    return EmbeddedDatabase.start(dataDirectory);
  }
}
