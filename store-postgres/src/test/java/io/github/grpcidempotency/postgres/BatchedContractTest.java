package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.spi.OperationStore;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The contract of a store whose every statement that can serve several calls is one that does. */
@Tag("torture")
class BatchedContractTest extends PostgresIdempotencyStoreContractTest {
  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database().app()).lease(lease).smallestBatch(1).build();
  }
}
