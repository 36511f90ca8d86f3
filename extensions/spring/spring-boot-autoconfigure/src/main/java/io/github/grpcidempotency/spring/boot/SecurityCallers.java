package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import java.util.Optional;
import java.util.UUID;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContext;

/**
 * Reads the caller from the authentication that Spring Security has put into gRPC's {@code
 * Context}. Does not use {@code SecurityContextHolder}, which may still contain another call's
 * authentication.
 *
 * <p>A name that is a UUID is the user's id, so that row-level security can use it; any other is
 * hashed to a UUID of version 5. A name that is itself a UUID of version 5 is hashed too. Otherwise
 * a user who can choose a name could choose the hash of another user's name.
 */
final class SecurityCallers implements CallerResolver {
  private static final int HASHED = 5;

  @Override
  public Optional<Caller> resolve() {
    return Optional.ofNullable(GrpcSecurity.SECURITY_CONTEXT_KEY.get())
        .map(SecurityContext::getAuthentication)
        .filter(Authentication::isAuthenticated)
        .filter(authentication -> !(authentication instanceof AnonymousAuthenticationToken))
        .map(authentication -> caller(authentication.getName()));
  }

  private static Caller caller(String name) {
    return uuid(name)
        .filter(id -> id.version() != HASHED)
        .map(Caller::of)
        .orElseGet(() -> Caller.ofSubject(name));
  }

  /** Accepts only the canonical spelling, so that two spellings of a UUID are two callers. */
  private static Optional<UUID> uuid(String name) {
    try {
      return Optional.of(UUID.fromString(name)).filter(id -> id.toString().equals(name));
    } catch (IllegalArgumentException subject) {
      return Optional.empty();
    }
  }
}
