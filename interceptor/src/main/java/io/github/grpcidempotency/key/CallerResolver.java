package io.github.grpcidempotency.key;

import java.util.Optional;

/**
 * Finds the caller of the current call. Authentication runs before the idempotency interceptor and
 * leaves its finding in the gRPC {@code Context}; a resolver reads it there, for instance {@code ()
 * -> Optional.ofNullable(USER.get()).map(Caller::of)}.
 *
 * <p>Called once for each call of a method that has a procedure, with a key or without, on the
 * thread that started the call, with the call's {@code Context} current. It must not block. What it
 * throws is sent to the client if it is a {@code StatusRuntimeException}, and {@code INTERNAL}
 * otherwise; the handler does not run.
 */
@FunctionalInterface
public interface CallerResolver {
  /**
   * Returns the caller, or empty for an unauthenticated call: it passes through unprotected where a
   * key is optional, and is refused where one is required.
   */
  Optional<Caller> resolve();
}
