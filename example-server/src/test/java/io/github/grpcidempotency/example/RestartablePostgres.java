package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.grpcidempotency.example.run.Database;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** A PostgreSQL with the example's database, which can be stopped and started again. */
final class RestartablePostgres implements AutoCloseable {
  private final Path data;
  private EmbeddedPostgres server;
  private final int port;

  private RestartablePostgres(Path data, EmbeddedPostgres server) {
    this.data = data;
    this.server = server;
    this.port = server.getPort();
  }

  /**
   * Starts it, and migrates its database.
   *
   * @param data an empty directory
   */
  static RestartablePostgres start(Path data) throws IOException {
    RestartablePostgres postgres = new RestartablePostgres(data, launch(data, 0));
    try (InputStream roles =
            Objects.requireNonNull(Database.class.getResourceAsStream("/db/roles.sql"));
        Handle superuser = Jdbi.open(postgres.server.getPostgresDatabase())) {
      superuser.execute(new String(roles.readAllBytes(), UTF_8));
      superuser.execute("CREATE DATABASE example OWNER example_owner");
    }
    postgres.database().migrate();
    return postgres;
  }

  Database database() {
    return Database.at(server.getJdbcUrl("postgres", "example"));
  }

  void execute(String sql) {
    try (Handle superuser = Jdbi.open(database().superuser())) {
      superuser.execute(sql);
    }
  }

  /** Returns how many rows a query has. */
  int count(String query) {
    try (Handle superuser = Jdbi.open(database().superuser())) {
      return superuser
          .createQuery("SELECT count(*) FROM (%s) AS found".formatted(query))
          .mapTo(Integer.class)
          .one();
    }
  }

  void stop() {
    try {
      server.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  void startAgain() {
    server = launch(data, port);
  }

  /**
   * Starts a server that leaves its data when it stops.
   *
   * @param port 0 for any free port
   */
  private static EmbeddedPostgres launch(Path data, int port) {
    try {
      return EmbeddedPostgres.builder()
          .setPGStartupWait(Duration.ofMinutes(1))
          .setPort(port)
          .setDataDirectory(data)
          .setCleanDataDirectory(false)
          .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    stop();
  }
}
