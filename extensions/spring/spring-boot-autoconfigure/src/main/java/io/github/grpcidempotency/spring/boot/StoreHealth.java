package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Looks up a key that does not exist, as the application's role. The store was already verified at
 * start-up.
 */
final class StoreHealth extends AbstractHealthIndicator {
  private final FoundProcedures found;
  private final ObjectProvider<IdempotencyStore> store;

  StoreHealth(FoundProcedures found, ObjectProvider<IdempotencyStore> store) {
    super("the store of idempotency records cannot be reached");
    this.found = found;
    this.store = store;
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
    try {
      store
          .getObject()
          .find(
              new IdempotencyKey(Caller.of(nobody), nobody.toString()),
              RecordedProcedure.of(procedures.get(0)));
      builder.up();
    } catch (StoreException unreachable) {
      // The failure's message is omitted, because it may contain names of hosts and roles.
      builder.down().withDetail("cause", unreachable.failureCause());
    }
  }
}
