package io.github.grpcidempotency.key;

import java.util.Optional;

/**
 * Finds the caller of the current call. Authentication runs before the idempotency interceptor and
 * leaves its finding in the gRPC {@code Context}; a resolver reads it there, for instance {@code ()
 * -> Optional.ofNullable(USER.get()).map(Caller::of)}.
 *
 * <p>Called once per keyed call, on the thread that started the call, with the call's {@code
 * Context} current. It must not block.
 */
@FunctionalInterface
public interface CallerResolver {
  /** Returns the caller, or empty for an unauthenticated call, which then passes through. */
  Optional<Caller> resolve();
}
