package io.github.grpcidempotency.example.service.organization;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.outbox.OutboxEntry;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.procedure.ResourceType;
import java.util.UUID;

/**
 * A resource that is about to be created.
 *
 * @param id a UUIDv7: ids in the order of creation keep indexes small and lists sorted
 */
record NewResource(ResourceType type, UUID id, String name) {

  static NewResource of(ResourceType type, String name) {
    return new NewResource(type, UuidCreator.getTimeOrderedEpoch(), name);
  }

  /** What is left to do: make the caller its owner. */
  OutboxEntry ownedByCaller() {
    String owner = "user:" + CurrentCaller.get().userId();
    return grants(new Tuple(owner, "owner", type.name() + ":" + id));
  }

  /** What is left to do: write that tuple. */
  OutboxEntry grants(Tuple tuple) {
    return new OutboxEntry(type, id, name, tuple);
  }
}
