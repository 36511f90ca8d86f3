package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** Notifies a user's listener of events, and lets nothing that it throws reach a call. */
final class SafeListener {
  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(IdempotencyListener.class));
  private final IdempotencyListener listener;

  /** Wraps a user's listener. */
  public SafeListener(IdempotencyListener listener) {
    this.listener = listener;
  }

  /**
   * Notifies the listener of one event. Never throws, not even an {@link Error} of the listener.
   */
  public void notify(Consumer<IdempotencyListener> event) {
    try {
      event.accept(listener);
    } catch (Throwable thrown) {
      log.warn(thrown.getClass().getName(), thrown, "an idempotency listener failed");
    }
  }
}
