package io.github.grpcidempotency.client;

import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;

class SqliteKillTest extends IntentKillContract {
  private final Path home;

  SqliteKillTest(@TempDir Path home) {
    this.home = home;
  }

  @Override
  ClientDatabase create() {
    return ClientDatabase.sqlite(home.resolve(UUID.randomUUID().toString()));
  }
}
