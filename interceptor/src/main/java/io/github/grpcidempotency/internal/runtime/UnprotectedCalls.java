package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.procedure.Procedure;
import org.jspecify.annotations.Nullable;

/** Lets no call that carries a key run unprotected unheard. Thread-safe. */
final class UnprotectedCalls {
  private final RateLimitedLog log;
  private final SafeListener listener;

  UnprotectedCalls(RateLimitedLog log, SafeListener listener) {
    this.log = log;
    this.listener = listener;
  }

  /** Tells of one call: the listener of each, the log of one for each procedure and cause. */
  void notify(Procedure procedure, UnprotectedCause cause, @Nullable Throwable why) {
    log.warn(
        procedure.name() + " " + cause,
        why,
        "%s: a call with a key is not protected: %s".formatted(procedure.name(), cause.words()));
    listener.notify(events -> events.unprotected(procedure.name(), cause));
  }
}
