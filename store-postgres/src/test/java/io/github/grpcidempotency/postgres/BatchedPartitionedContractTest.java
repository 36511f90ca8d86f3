package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.OperationStore;
import java.time.Duration;

/** The contract on partitions, with statements for several calls wherever there is one. */
class BatchedPartitionedContractTest extends PartitionedContractTest {
  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database().app()).lease(lease).smallestBatch(1).build();
  }
}
