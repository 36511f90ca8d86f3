package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.spi.OperationStore;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract on partitions, with statements for several calls wherever there is one. */
class PartitionedContractTest extends PostgresIdempotencyStoreContractTest {
  @RegisterExtension static final TestDatabase partitioned = TestDatabase.partitioned();

  @Override
  TestDatabase database() {
    return partitioned;
  }

  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database().app()).lease(lease).smallestBatch(1).build();
  }
}
