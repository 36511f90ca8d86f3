package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.spi.OperationStore;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The contract on partitions, where a call that is alone has statements of its own. */
@Tag("torture")
class PartitionedSingleCallsContractTest extends PartitionedContractTest {
  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database().app()).lease(lease).build();
  }
}
