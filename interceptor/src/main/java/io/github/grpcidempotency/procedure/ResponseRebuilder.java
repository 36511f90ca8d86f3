package io.github.grpcidempotency.procedure;

import com.google.protobuf.Message;
import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/**
 * Rebuilds a response from the resource that it referred to, for answers that are too large to
 * record, or that a client wants in their current state. Thread-safe.
 *
 * <p>Called on the thread of the replay, with the gRPC {@code Context} of the call; it may read a
 * database.
 */
@FunctionalInterface
public interface ResponseRebuilder {
  /**
   * Returns the response as it would be now; empty if the resource is gone.
   *
   * @throws io.github.grpcidempotency.store.StoreException if the resource cannot be read for the
   *     time being: the client is told to try again. Anything else that is thrown counts as a
   *     defect
   */
  Optional<? extends Message> rebuild(Caller caller, UUID resourceId);
}
