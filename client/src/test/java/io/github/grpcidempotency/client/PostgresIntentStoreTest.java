package io.github.grpcidempotency.client;

import java.io.IOException;

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
  ClientDatabase on(SmallDisk disk) throws IOException {
    ClientDatabase database = ClientDatabase.of(Databases.buyer());
    database.moveTo(disk);
    return database;
  }
}
