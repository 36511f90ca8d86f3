package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.example.service.Settings;
import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The example with its own database, in the test's process and behind a real socket. */
record RunningExample(EmbeddedDatabase database, RunningServer server, TestClient client)
    implements AutoCloseable {

  static RunningExample start() {
    EmbeddedDatabase database = MigratedDatabase.start();
    try {
      return start(settings(database), database);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /** Starts the example on a migrated database, which is closed with it. */
  static RunningExample start(Settings settings, EmbeddedDatabase database) {
    RunningServer server = RunningServer.start(0, settings, database);
    return new RunningExample(database, server, new TestClient(server.port()));
  }

  /** Returns what a server beside its own database has, with an outbox that does not rest. */
  static Settings settings(EmbeddedDatabase database) {
    DataFiles files = new DataFiles(database.directory());
    return new Settings(
        Duration.ofSeconds(30),
        Duration.ZERO,
        Duration.ofDays(1),
        files.retentions(),
        files.secrets(),
        TestProvider.cloud());
  }

  /** Returns the same settings with a sweep every second. */
  static Settings sweepingOften(Settings given) {
    return new Settings(
        given.lease(),
        given.outboxDelay(),
        given.usagePeriod(),
        given.retentions(),
        given.secrets(),
        given.cloud(),
        Duration.ofSeconds(1),
        given.grace());
  }

  /** Sees everything, past row-level security. */
  Handle superuser() {
    return Jdbi.open(database.superuser());
  }

  @Override
  public void close() {
    client.close();
    server.close();
    database.close();
  }
}
