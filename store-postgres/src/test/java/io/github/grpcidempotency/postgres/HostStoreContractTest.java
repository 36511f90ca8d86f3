package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.spi.OperationStore;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** A store keeps the contract whatever transactions its transactional claims are. */
@Tag("torture")
class HostStoreContractTest extends PostgresIdempotencyStoreContractTest {
  @Override
  protected OperationStore newStore(Duration lease) {
    return PostgresIdempotencyStore.builder(database.app())
        .lease(lease)
        .hostTransactions(new ThreadTransactions(database.app()))
        .build();
  }
}
