package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/** The operations of callers on several shards. Thread-safe. */
final class ShardedCatalog implements OperationCatalog {
  private final Function<Caller, OperationCatalog> shards;

  ShardedCatalog(Function<Caller, OperationCatalog> shards) {
    this.shards = shards;
  }

  @Override
  public List<StoredOperation> find(Caller caller, Collection<UUID> operationIds) {
    return shards.apply(caller).find(caller, operationIds);
  }

  @Override
  public List<StoredOperation> list(
      Caller caller, Set<String> procedures, Optional<UUID> before, int limit) {
    return shards.apply(caller).list(caller, procedures, before, limit);
  }

  @Override
  public boolean forget(Caller caller, UUID operationId) {
    return shards.apply(caller).forget(caller, operationId);
  }

  /**
   * Returns nothing, so that the resolver is called: the shard of a resource is unknown without its
   * caller's tenant.
   */
  @Override
  public Map<OwnedResource, IdempotencyStatus> statuses(
      RecordedProcedure procedure, Collection<OwnedResource> resources) {
    return Map.of();
  }
}
