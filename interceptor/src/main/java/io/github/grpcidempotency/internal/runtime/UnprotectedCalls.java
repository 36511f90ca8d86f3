package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.procedure.Procedure;
import org.jspecify.annotations.Nullable;

/** Reports every call that carries a key and runs unprotected. Thread-safe. */
final class UnprotectedCalls {
  private final RateLimitedLog log;
  private final SafeListener listener;

  UnprotectedCalls(RateLimitedLog log, SafeListener listener) {
    this.log = log;
    this.listener = listener;
  }

  /**
   * Reports one call: to the listener always, to the log at a limited rate per procedure and cause.
   */
  void notify(Procedure procedure, UnprotectedCause cause, @Nullable Throwable why) {
    log.warn(
        procedure.name() + " " + cause,
        why,
        "%s: a call with a key is not protected: %s".formatted(procedure.name(), cause.words()));
    listener.notify(events -> events.unprotected(procedure.name(), cause));
  }
}
