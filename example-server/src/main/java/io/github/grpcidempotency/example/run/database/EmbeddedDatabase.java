package io.github.grpcidempotency.example.run.database;

import io.github.grpcidempotency.example.service.OrganizationSchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A PostgreSQL that is started and stopped with the server, and is as durable as a real one: what
 * was committed survives a restart of the server, and also a {@code kill -9}. It listens on the
 * loopback interface only, and trusts everybody who connects there. Use it for trying out, not for
 * data that matters.
 */
public final class EmbeddedDatabase implements HostDatabase {
  private static final Logger log = LoggerFactory.getLogger(EmbeddedDatabase.class);
  private static final String DATABASE = "example";
  private static final Duration START_WITHIN = Duration.ofSeconds(30);

  private static final String NOT_DURABLE =
      """
      SELECT name FROM pg_settings
      WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting <> 'on'
      """;

  private static final String DATABASE_EXISTS =
      "SELECT count(*) > 0 FROM pg_database WHERE datname = '" + DATABASE + "'";

  private static final String CREATE_DATABASE =
      "CREATE DATABASE " + DATABASE + " OWNER " + Roles.OWNER;

  private final DataDirectory directory;
  private final EmbeddedPostgres postgres;
  private final boolean temporary;

  private EmbeddedDatabase(DataDirectory directory, EmbeddedPostgres postgres, boolean temporary) {
    this.directory = directory;
    this.postgres = postgres;
    this.temporary = temporary;
  }

  /**
   * Starts PostgreSQL on a directory, which is set up at the first start.
   *
   * @throws StartupFailure if that directory is in use, or PostgreSQL does not start
   */
  public static EmbeddedDatabase start(Path dataDirectory) {
    return start(dataDirectory, false);
  }

  /**
   * Starts PostgreSQL on a new directory, which is deleted when the database is closed.
   *
   * @throws StartupFailure if PostgreSQL does not start
   */
  public static EmbeddedDatabase startTemporary() {
    try {
      return startTemporary(Files.createTempDirectory("grpc-idempotency-example"));
    } catch (IOException e) {
      throw StartupFailure.because("There is no place for a temporary database", e);
    }
  }

  /**
   * Starts PostgreSQL on a directory, which is deleted when the database is closed.
   *
   * @throws StartupFailure if that directory is in use, or PostgreSQL does not start
   */
  public static EmbeddedDatabase startTemporary(Path dataDirectory) {
    return start(dataDirectory, true);
  }

  private static EmbeddedDatabase start(Path dataDirectory, boolean temporary) {
    DataDirectory directory = DataDirectory.hold(dataDirectory);
    try {
      OrphanedPostgres.in(directory.postgres()).ifPresent(OrphanedPostgres::stop);
      directory.beginInitialization();
      EmbeddedDatabase database =
          new EmbeddedDatabase(directory, startPostgres(directory.postgres()), temporary);
      database.prepare();
      directory.finishInitialization();
      return database;
    } catch (StartupFailure e) {
      directory.close();
      throw e;
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw StartupFailure.because("The embedded PostgreSQL does not start in " + directory, e);
    }
  }

  private static EmbeddedPostgres startPostgres(Path directory) throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(directory)
        .setCleanDataDirectory(false)
        .setRegisterShutdownHook(false) // it must outlive the calls that use it
        .setPGStartupWait(START_WITHIN)
        .setServerConfig("fsync", "on")
        .setServerConfig("synchronous_commit", "on")
        .setServerConfig("full_page_writes", "on")
        .start();
  }

  private void prepare() {
    try (Handle handle = Jdbi.open(postgres.getPostgresDatabase())) {
      checkDurability(handle);
      handle.execute(Roles.script());
      if (!handle.createQuery(DATABASE_EXISTS).mapTo(Boolean.class).one()) {
        handle.execute(CREATE_DATABASE);
      }
    } catch (JdbiException | StartupFailure e) {
      close();
      throw e;
    }
  }

  private static void checkDurability(Handle handle) {
    List<String> off = handle.createQuery(NOT_DURABLE).mapTo(String.class).list();
    if (!off.isEmpty()) {
      throw new StartupFailure("The embedded PostgreSQL would not be durable: off is " + off + ".");
    }
  }

  @Override
  public DataSource app() {
    return serving(Roles.APP);
  }

  @Override
  public DataSource worker() {
    return serving(Roles.WORKER);
  }

  private DataSource serving(String role) {
    return postgres.getDatabase(
        role, DATABASE, Map.of("socketTimeout", String.valueOf(SOCKET_TIMEOUT_SECONDS)));
  }

  /** Bypasses row-level security. Use it to count rows, never to serve calls. */
  public DataSource superuser() {
    return postgres.getDatabase("postgres", DATABASE);
  }

  @Override
  public void migrate() {
    OrganizationSchema.migrate(
        postgres.getDatabase(Roles.OWNER, DATABASE), Roles.APP, Roles.WORKER, Roles.OPERATOR);
  }

  /** Where the data is; the server may keep other files beside it. */
  public Path directory() {
    return directory.path();
  }

  /** The URL with which a client such as psql connects. */
  public String jdbcUrl() {
    return postgres.getJdbcUrl("postgres", DATABASE);
  }

  /** The URL with which the command line for operators connects. */
  public String operatorUrl() {
    return postgres.getJdbcUrl(Roles.OPERATOR, DATABASE);
  }

  @Override
  public void close() {
    try {
      postgres.close();
      if (temporary) {
        directory.delete();
      }
    } catch (IOException e) {
      log.warn("The embedded PostgreSQL did not stop cleanly: {}", e.getMessage());
    } finally {
      directory.close();
    }
  }
}
