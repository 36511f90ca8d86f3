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

  @Override
  ClientDatabase on(SmallDisk disk) throws java.io.IOException {
    ClientDatabase database = again();
    database.moveTo(disk);
    return database;
  }
}
