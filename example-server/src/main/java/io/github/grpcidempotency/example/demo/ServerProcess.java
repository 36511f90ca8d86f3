package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.Keys;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;

/** The process of one of the two servers. Its argument is the URL of the database. */
final class ServerProcess {
  /** Short, so that nobody waits for long after a kill. */
  private static final Duration LEASE = Duration.ofSeconds(4);

  private ServerProcess() {}

  public static void main(String... url) throws IOException, GeneralSecurityException {
    Database database = Database.at(url[0]);
    Settings settings =
        Settings.of(
            LEASE,
            Keys.temporary(),
            Keys.temporaryLogSecret(),
            new CloudTable(database.superuser()));
    Child.serve(RunningServer.start(0, 0, settings, database).port());
    Runtime.getRuntime().halt(0);
  }
}
