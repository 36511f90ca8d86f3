package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.resource.ResourceId;
import java.util.Optional;

/**
 * Decides whether the caller may still get a recorded answer, because the caller may have lost the
 * rights since. Called before every replay, with the call's gRPC {@code Context} current. It may
 * block as a handler may. An exception is logged, and the replay is denied. If the guard cannot
 * read the rights, it should throw a {@link io.github.grpcidempotency.store.StoreException}: the
 * call is then refused with {@code UNAVAILABLE}, and the client can retry.
 */
@FunctionalInterface
public interface ReplayGuard {
  /**
   * Returns whether the caller may get the answer.
   *
   * @param resourceId the resource that the record refers to; empty if there is none, or if it has
   *     been deleted
   */
  boolean mayReplay(Caller caller, Optional<ResourceId> resourceId);
}
