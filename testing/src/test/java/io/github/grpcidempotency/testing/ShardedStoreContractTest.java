package io.github.grpcidempotency.testing;

import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.ShardedStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Callers on two shards see what they would see in one store. */
class ShardedStoreContractTest extends IdempotencyStoreContract {
  private List<InMemoryIdempotencyStore> shards = List.of();

  @Override
  protected IdempotencyStore newStore(Duration lease) {
    shards = Stream.generate(() -> new InMemoryIdempotencyStore(lease)).limit(2).toList();
    return ShardedStore.builder(
            caller -> Optional.of(caller.userId().hashCode() % 2 == 0 ? "even" : "odd"))
        .shard("even", shards.get(0))
        .shard("odd", shards.get(1))
        .build();
  }

  @Override
  protected void letPass(Duration time) {
    shards.forEach(shard -> shard.advance(time));
  }
}
