package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.Keys;
import io.github.grpcidempotency.example.run.MachineShop;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.github.grpcidempotency.procedure.ResponseProtection;
import java.security.GeneralSecurityException;
import java.time.Duration;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The example in the test's process, behind a real socket. */
record RunningExample(Database database, MachineShop shop, RunningServer server, TestClient client)
    implements AutoCloseable {
  private static final ResponseProtection SECRETS = secrets();

  static RunningExample start() {
    Database database = Databases.copy();
    MachineShop shop = new MachineShop();
    return start(database, shop, settings(SECRETS, shop));
  }

  static RunningExample start(Database database, MachineShop shop, Settings settings) {
    RunningServer server = RunningServer.start(0, 0, settings, database);
    return new RunningExample(database, shop, server, new TestClient(server.port()));
  }

  /** Returns settings with an outbox that does not rest, and with many sweeps. */
  static Settings settings(ResponseProtection secrets, CloudProvider cloud) {
    return new Settings(
        Duration.ofSeconds(30),
        Duration.ZERO,
        Duration.ofSeconds(1),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        secrets,
        Keys.temporaryLogSecret(),
        cloud);
  }

  /** Returns an encryption that all servers of a test share. */
  static ResponseProtection secrets() {
    try {
      return Keys.temporary();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Sees everything, past row-level security. */
  Handle superuser() {
    return Jdbi.open(database.superuser());
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
