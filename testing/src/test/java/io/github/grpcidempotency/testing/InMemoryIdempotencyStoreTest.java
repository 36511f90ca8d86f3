package io.github.grpcidempotency.testing;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.OperationStore;
import io.github.grpcidempotency.store.SetupException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class InMemoryIdempotencyStoreTest extends OperationStoreContract {
  private InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();

  @Override
  protected OperationStore newStore(Duration lease) {
    store = new InMemoryIdempotencyStore(lease);
    return store;
  }

  @Override
  protected void letPass(Duration time) {
    store.advance(time);
  }

  @Test
  void aTransactionalProcedureNeedsAStoreWithTransactions() {
    Procedures transactional =
        Procedures.of(Procedure.named("jobs/write").execution(Execution.TRANSACTIONAL).build());

    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> Setup.check(transactional, Optional.of(Stores.of(store))))
        .withMessageContaining(
            "jobs/write: it is TRANSACTIONAL, but InMemoryIdempotencyStore does not support"
                + " transactions");
  }
}
