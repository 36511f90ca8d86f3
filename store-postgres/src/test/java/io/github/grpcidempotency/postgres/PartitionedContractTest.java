package io.github.grpcidempotency.postgres;

import org.junit.jupiter.api.extension.RegisterExtension;

/** A store keeps the contract whether its table has partitions or not. */
class PartitionedContractTest extends PostgresIdempotencyStoreContractTest {
  @RegisterExtension static final TestDatabase partitioned = TestDatabase.partitioned();

  @Override
  TestDatabase database() {
    return partitioned;
  }
}
