package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.testing.OperationStoreContract;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresIdempotencyStoreContractTest extends OperationStoreContract {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  /** Returns where the store is; of another one, the contract is the same. */
  TestDatabase database() {
    return database;
  }

  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database().app()).lease(lease).build();
  }

  @Override
  protected void letPass(Duration time) {
    database().letPass(time);
  }

  @Override
  protected ResourceId newThing(UUID userId) {
    UUID thing = UUID.randomUUID();
    database().execute("INSERT INTO app.things VALUES (?, ?, 'a thing')", thing, userId);
    return ResourceId.of(thing);
  }
}
