package io.github.grpcidempotency.example.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.grpcidempotency.example.service.OrganizationSchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The PostgreSQL of the service, with the roles of {@code db/roles.sql}. The data sources are not
 * pools.
 */
public final class Database implements AutoCloseable {
  private static final String OWNER = "example_owner";
  private static final String APP = "example_app";
  private static final String WORKER = "example_worker";

  /** A database that stops answering must not block threads for longer than a lease. */
  private static final int SOCKET_TIMEOUT_SECONDS = 10;

  private final String url;
  private final Closeable server;

  private Database(String url, Closeable server) {
    this.url = url;
    this.server = server;
  }

  /**
   * Returns a database of the user's own. The JDBC driver reads passwords from {@code ~/.pgpass}.
   *
   * @param url a JDBC URL; a user in it is not used
   */
  public static Database at(String url) {
    return new Database(url, () -> {});
  }

  /**
   * Starts a PostgreSQL that is deleted when it is closed. It listens on the loopback interface
   * only, and trusts everybody who connects there.
   */
  public static Database embedded() {
    try {
      // Stops the database only after the calls that use it, so it has no shutdown hook of its own.
      EmbeddedPostgres postgres =
          EmbeddedPostgres.builder()
              .setPGStartupWait(Duration.ofMinutes(1))
              .setRegisterShutdownHook(false)
              .start();
      Jdbi.create(postgres.getPostgresDatabase())
          .useHandle(
              handle -> {
                handle.execute(roles());
                handle.execute("CREATE DATABASE example OWNER " + OWNER);
              });
      return new Database(postgres.getJdbcUrl("postgres", "example"), postgres);
    } catch (IOException failure) {
      throw new UncheckedIOException("the embedded PostgreSQL does not start", failure);
    }
  }

  private static String roles() throws IOException {
    try (InputStream script =
        Objects.requireNonNull(Database.class.getResourceAsStream("/db/roles.sql"))) {
      return new String(script.readAllBytes(), UTF_8);
    }
  }

  /** Migrates the schema to the current version, as the role that owns it. */
  public void migrate() {
    OrganizationSchema.migrate(as(OWNER), APP, WORKER);
  }

  /**
   * Returns the data source that serves calls. Row-level security applies to its role, which owns
   * nothing.
   */
  public DataSource app() {
    return as(APP);
  }

  /** Returns the data source that drains the outbox. Its role sees the outbox rows of all users. */
  public DataSource worker() {
    return as(WORKER);
  }

  /** Returns a data source without row-level security. The demo and tests count rows with it. */
  public DataSource superuser() {
    return as("postgres");
  }

  /** Returns the URL without a user. */
  public String url() {
    return url;
  }

  private DataSource as(String role) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    dataSource.setUser(role);
    dataSource.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
    return dataSource;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException failure) {
      throw new UncheckedIOException("the embedded PostgreSQL does not stop", failure);
    }
  }
}
