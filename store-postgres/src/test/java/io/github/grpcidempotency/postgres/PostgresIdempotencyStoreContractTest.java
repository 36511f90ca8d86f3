package io.github.grpcidempotency.postgres;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.store.OperationStore;
import io.github.grpcidempotency.testing.OperationStoreContract;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresIdempotencyStoreContractTest extends OperationStoreContract {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final Jdbi superuser = database.superuser();

  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database.app()).lease(lease).build();
  }

  /** The database's clock is the only one that counts, and it cannot be put forward. */
  @Override
  protected void letPass(Duration time) {
    OffsetDateTime then = databaseTime().plus(time);
    await().pollInterval(Duration.ofMillis(20)).until(() -> databaseTime().isAfter(then));
  }

  @Override
  protected UUID newThing(UUID userId) {
    UUID thing = UUID.randomUUID();
    superuser.useHandle(
        handle -> handle.execute("INSERT INTO app.things VALUES (?, ?, 'a thing')", thing, userId));
    return thing;
  }

  private OffsetDateTime databaseTime() {
    return superuser.withHandle(
        handle -> handle.createQuery("SELECT clock_timestamp()").mapTo(OffsetDateTime.class).one());
  }
}
