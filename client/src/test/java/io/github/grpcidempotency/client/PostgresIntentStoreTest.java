package io.github.grpcidempotency.client;

class PostgresIntentStoreTest extends IntentStoreContract {
  private static final Databases.Database buyer = Databases.buyer();

  PostgresIntentStoreTest() {
    super(ClientDatabase.of(buyer));
  }

  @Override
  ClientDatabase again() {
    return ClientDatabase.of(buyer);
  }
}
