package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * Looks up a key that does not exist, as the application's role, in the store or in each shard. The
 * service is down if no shard answers, unless a procedure fails open: the service then runs its
 * calls, so it must not be taken out of service. The stores were already verified at start-up.
 */
final class StoreHealth extends AbstractHealthIndicator {
  private final FoundProcedures found;
  private final ObjectProvider<IdempotencyStore> store;
  private final ObjectProvider<Shards> shards;

  StoreHealth(
      FoundProcedures found,
      ObjectProvider<IdempotencyStore> store,
      ObjectProvider<Shards> shards) {
    super("the store of idempotency records cannot be reached");
    this.found = found;
    this.store = store;
    this.shards = shards;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    List<Procedure> procedures =
        found.procedures().all().stream().sorted(Comparator.comparing(Procedure::name)).toList();
    builder.withDetail("procedures", procedures.stream().map(Procedure::name).toList());
    if (procedures.isEmpty()) {
      builder.unknown();
      return;
    }
    UUID nobody = UUID.randomUUID();
    IdempotencyKey key = new IdempotencyKey(Caller.of(nobody), nobody.toString());
    Shards several = shards.getIfAvailable();
    Map<String, ? extends IdempotencyStore> stores =
        several == null ? Map.of("cause", store.getObject()) : several.stores();
    List<String> open =
        procedures.stream()
            .filter(procedure -> procedure.outagePolicy() == OutagePolicy.FAIL_OPEN)
            .map(Procedure::name)
            .toList();
    boolean up = false;
    for (Map.Entry<String, ? extends IdempotencyStore> each : stores.entrySet()) {
      try {
        Optional<ClaimResult> unused =
            each.getValue().find(key, RecordedProcedure.of(procedures.get(0)));
        up = true;
      } catch (StoreException unreachable) {
        // The failure's message is omitted, because it may contain names of hosts and roles.
        builder.withDetail(each.getKey(), unreachable.failureCause());
        if (unreachable.failureCause() == FailureCause.NO_CONNECTION && !open.isEmpty()) {
          builder.withDetail("unprotected", open);
          up = true;
        }
      }
    }
    builder.status(up ? Status.UP : Status.DOWN);
  }
}
