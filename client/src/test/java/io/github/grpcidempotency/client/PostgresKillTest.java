package io.github.grpcidempotency.client;

class PostgresKillTest extends IntentKillContract {
  @Override
  ClientDatabase create() {
    return ClientDatabase.of(Databases.buyer());
  }
}
