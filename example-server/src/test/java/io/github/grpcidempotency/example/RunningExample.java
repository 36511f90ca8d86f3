package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.server.RunningServer;
import io.github.grpcidempotency.example.server.Settings;
import java.time.Duration;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The example on a database of its own, in the test's process and behind a real socket. */
record RunningExample(EmbeddedDatabase database, RunningServer server, TestClient client)
    implements AutoCloseable {

  static RunningExample start() {
    EmbeddedDatabase database = EmbeddedDatabase.startTemporary();
    database.migrate();
    Settings settings = new Settings(0, Duration.ofSeconds(30), Optional.empty(), Duration.ZERO);
    RunningServer server = RunningServer.start(settings, database);
    return new RunningExample(database, server, new TestClient(server.port()));
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
