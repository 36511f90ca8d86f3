package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/**
 * Decides whether the caller may still have a recorded answer, because rights may have been revoked
 * since. Called before every replay, with the call's gRPC {@code Context} current. It may block as
 * a handler may. If it throws, that is logged and the replay is denied. If it cannot look up the
 * rights, it should throw a {@link io.github.grpcidempotency.store.StoreException}: the call is
 * then refused with {@code UNAVAILABLE}, and the client can retry.
 */
@FunctionalInterface
public interface ReplayGuard {
  /**
   * Returns whether the caller may have the answer.
   *
   * @param caller the caller of the retry
   * @param resourceId the resource that the record refers to; empty if there is none, or if it was
   *     deleted since
   */
  boolean mayReplay(Caller caller, Optional<UUID> resourceId);
}
