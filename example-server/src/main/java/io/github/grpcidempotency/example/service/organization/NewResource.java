package io.github.grpcidempotency.example.service.organization;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.outbox.OutboxEntry;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.example.service.tenant.CallerHandle;
import io.github.grpcidempotency.example.service.tenant.Table;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A resource that is about to be created.
 *
 * @param id a UUIDv7: ids that increase with the time of creation keep indexes small and lists
 *     sorted
 */
record NewResource<M extends Message>(Table<M> table, UUID id, String name) {

  static <M extends Message> NewResource<M> in(Table<M> table, String name) {
    return new NewResource<>(table, UuidCreator.getTimeOrderedEpoch(), name);
  }

  /** Inserts it below a parent; returns empty if the caller sees no such parent. */
  Optional<M> insert(CallerHandle tenant, UUID parentId, Map<String, ?> values) {
    return table.insert(tenant, id, parentId, values);
  }

  /** Inserts it without a parent. */
  Optional<M> insert(CallerHandle tenant, Map<String, ?> values) {
    return Optional.of(table.insert(tenant, id, values));
  }

  /** Returns the asynchronous work that remains: make the caller the owner. */
  OutboxEntry ownedByCaller() {
    String owner = "user:" + CurrentCaller.get().userId();
    return grants(new Tuple(owner, "owner", table.type().name() + ":" + id));
  }

  /** Returns the asynchronous work that remains: write this tuple. */
  OutboxEntry grants(Tuple tuple) {
    return new OutboxEntry(id, name, tuple);
  }
}
