package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.Shards;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One store for all callers, or one store for each shard. Thread-safe. */
public record Stores(
    Collection<CheckedStore> all, Function<Optional<Caller>, Optional<CheckedStore>> choice) {
  private static final Logger logger = LoggerFactory.getLogger(Stores.class);

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

  void check(Collection<Procedure> procedures) {
    List<String> problems = new ArrayList<>();
    List<StoreException> outages = new ArrayList<>();
    for (CheckedStore store : all) {
      try {
        store.check(procedures);
      } catch (SetupException wrong) {
        problems.addAll(wrong.problems());
      } catch (StoreException unreachable) {
        outages.add(unreachable);
      }
    }
    if (!problems.isEmpty()) {
      outages.forEach(outage -> problems.add(String.valueOf(outage.getMessage())));
      throw new SetupException(problems);
    }
    if (outages.size() == all.size()) {
      throw outages.get(0);
    }
    outages.forEach(
        outage ->
            logger.warn(
                "{}; calls of its callers are refused until it is checked", outage.getMessage()));
  }
}
