package io.github.grpcidempotency.procedure;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;
import java.util.UUID;

/**
 * Decides whether a recorded answer may be given to this caller now: rights may have been revoked
 * since. Called before every replay, with the call's gRPC {@code Context} current; it may block as
 * a handler may. What it throws is logged, and the replay refused for good; unless that is a {@link
 * io.github.grpcidempotency.store.StoreException}, which says that the rights cannot be looked up
 * at the moment: then the call is refused with {@code UNAVAILABLE}, and may be tried again.
 */
@FunctionalInterface
public interface ReplayGuard {
  /**
   * Returns whether the caller may see the answer again.
   *
   * @param caller who asks
   * @param resourceId what the answer is about; empty if nothing, or if it was deleted since
   */
  boolean mayReplay(Caller caller, Optional<UUID> resourceId);
}
