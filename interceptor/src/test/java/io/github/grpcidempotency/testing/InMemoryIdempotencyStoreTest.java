package io.github.grpcidempotency.testing;

import io.github.grpcidempotency.store.IdempotencyStore;
import java.time.Duration;

class InMemoryIdempotencyStoreTest extends IdempotencyStoreContract {
  private InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();

  @Override
  protected IdempotencyStore newStore(Duration lease) {
    store = new InMemoryIdempotencyStore(lease);
    return store;
  }

  @Override
  protected void letPass(Duration time) {
    store.advance(time);
  }
}
