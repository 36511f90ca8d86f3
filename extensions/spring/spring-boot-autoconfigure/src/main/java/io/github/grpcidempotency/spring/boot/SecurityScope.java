package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import org.springframework.grpc.server.security.GrpcSecurity;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * Restores {@code SecurityContextHolder} for a call that continues on another thread after a wait.
 * Spring binds it to the thread on which the call arrives.
 */
final class SecurityScope implements IdempotencyListener {
  @Override
  public CallScope capture() {
    SecurityContext captured = GrpcSecurity.SECURITY_CONTEXT_KEY.get();
    return captured == null ? CallScope.NONE : action -> run(captured, action);
  }

  @Override
  public void onEvent(IdempotencyEvent event) {}

  private static void run(SecurityContext captured, Runnable action) {
    SecurityContext before = SecurityContextHolder.getContext();
    SecurityContextHolder.setContext(captured);
    try {
      action.run();
    } finally {
      if (SecurityContextHolder.createEmptyContext().equals(before)) {
        SecurityContextHolder.clearContext();
      } else {
        SecurityContextHolder.setContext(before);
      }
    }
  }
}
