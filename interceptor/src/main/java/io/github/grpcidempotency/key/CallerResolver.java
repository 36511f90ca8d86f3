package io.github.grpcidempotency.key;

import java.util.Optional;

/**
 * Finds the caller of the current call. Authentication runs before the idempotency interceptor and
 * puts the user into the gRPC {@code Context}. A resolver reads it there, for instance {@code () ->
 * Optional.ofNullable(USER.get()).map(Caller::of)}.
 *
 * <p>Called once for each call of a method that has a procedure, with or without a key, on the
 * thread that started the call. The call's {@code Context} is current. It must not block. If it
 * throws, the handler does not run: a {@code StatusRuntimeException} goes to the client, anything
 * else becomes {@code INTERNAL}.
 */
@FunctionalInterface
public interface CallerResolver {
  /**
   * Returns the caller, or empty for an unauthenticated call. Such a call passes through
   * unprotected if the key is optional, and is refused if it is required.
   */
  Optional<Caller> resolve();
}
