package io.github.grpcidempotency.benchmarks.database;

import com.google.common.io.Resources;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/**
 * An embedded PostgreSQL that is as durable as a real one, with the service's tables and the
 * library's schema. The application connects as a role to which row-level security applies.
 */
public final class DurableDatabase implements AutoCloseable {
  private static final String DATABASE = "benchmark";
  private static final String OWNER = "benchmark_owner";
  private static final String APP = "benchmark_app";

  private final EmbeddedPostgres postgres;
  private final Jdbi superuser;

  private DurableDatabase(EmbeddedPostgres postgres) {
    this.postgres = postgres;
    this.superuser = Jdbi.create(postgres.getDatabase("postgres", DATABASE));
  }

  /**
   * Starts PostgreSQL in a new temporary directory.
   *
   * @throws IllegalStateException if it would not be durable
   */
  public static DurableDatabase start() {
    try {
      EmbeddedPostgres.Builder builder =
          EmbeddedPostgres.builder()
              .setPGStartupWait(Duration.ofMinutes(1))
              .setServerConfig("fsync", "on")
              .setServerConfig("synchronous_commit", "on")
              .setServerConfig("full_page_writes", "on")
              .setServerConfig("max_connections", "200")
              .setServerConfig("shared_buffers", "512MB")
              // No checkpoints at random within a round.
              .setServerConfig("max_wal_size", "16GB")
              .setServerConfig("checkpoint_timeout", "1h");
      DurableDatabase database = new DurableDatabase(builder.start());
      try {
        database.prepare();
      } catch (RuntimeException failure) {
        database.close();
        throw failure;
      }
      return database;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void prepare() {
    Jdbi postgresDatabase = Jdbi.create(postgres.getPostgresDatabase());
    List<String> off =
        postgresDatabase.withHandle(
            handle -> handle.createQuery(script("not_durable")).mapTo(String.class).list());
    if (!off.isEmpty()) {
      throw new IllegalStateException("PostgreSQL would not be durable: " + off);
    }
    postgresDatabase.useHandle(
        handle -> {
          handle.execute("CREATE ROLE " + OWNER + " LOGIN NOSUPERUSER NOBYPASSRLS");
          handle.execute("CREATE ROLE " + APP + " LOGIN NOSUPERUSER NOBYPASSRLS");
          handle.execute("CREATE DATABASE " + DATABASE + " OWNER " + OWNER);
        });
    runAsOwner(script("service"));
    migrate();
  }

  /** Creates the library's tables, with a foreign key for each resource type. */
  private void migrate() {
    IdempotencySchema.migrate(owner());
    runAsOwner(script("resource_types"));
  }

  /**
   * Returns a pool of the application's connections. Its round trips are counted, and have an
   * additional delay.
   */
  public HikariDataSource newPool(int size, Duration delay) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(
        "%s&socketFactory=%s&socketFactoryArg=%s"
            .formatted(
                postgres.getJdbcUrl(APP, DATABASE), MeteredSocketFactory.class.getName(), delay));
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(Duration.ofSeconds(60).toMillis());
    return new HikariDataSource(config);
  }

  /** Returns a superuser's connection, to load rows and to read statistics. */
  public Jdbi superuser() {
    return superuser;
  }

  /** Executes SQL as a superuser. */
  public void execute(String sql) {
    superuser.useHandle(handle -> handle.execute(sql));
  }

  /** Returns the server's version, and its settings that matter for speed. */
  public String description() {
    return superuser.withHandle(
        handle -> handle.createQuery(script("description")).mapTo(String.class).one());
  }

  @Override
  public void close() {
    try {
      postgres.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private DataSource owner() {
    return postgres.getDatabase(OWNER, DATABASE);
  }

  private void runAsOwner(String sql) {
    Jdbi.create(owner()).useHandle(handle -> handle.execute(sql));
  }

  /** Returns an SQL script of this package. */
  public static String script(String name) {
    try {
      return Resources.toString(
          Resources.getResource(DurableDatabase.class, name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
