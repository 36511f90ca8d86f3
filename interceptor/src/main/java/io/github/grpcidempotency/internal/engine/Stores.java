package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** One store for all callers, or one store for each shard. Thread-safe. */
public record Stores(
    Collection<CheckedStore> all, Function<Optional<Caller>, Optional<CheckedStore>> choice) {
  public static Stores of(IdempotencyStore store) {
    CheckedStore only = new CheckedStore(Optional.empty(), store);
    return new Stores(List.of(only), caller -> Optional.of(only));
  }

  public static Stores of(Shards shards) {
    Map<String, CheckedStore> stores = new TreeMap<>();
    shards
        .stores()
        .forEach((name, store) -> stores.put(name, new CheckedStore(Optional.of(name), store)));
    return new Stores(stores.values(), caller -> caller.flatMap(shards::shardOf).map(stores::get));
  }

  /** Returns the store of a caller; empty if the caller has no shard, or is unknown. */
  Optional<CheckedStore> of(Optional<Caller> caller) {
    return choice.apply(caller);
  }
}
