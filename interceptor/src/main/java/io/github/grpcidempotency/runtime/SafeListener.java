package io.github.grpcidempotency.runtime;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells a user's listener of events, and lets nothing that it throws reach a call. */
final class SafeListener {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyListener.class);

  private final IdempotencyListener listener;

  /** Wraps a user's listener. */
  public SafeListener(IdempotencyListener listener) {
    this.listener = listener;
  }

  /** Tells of one event. Never throws an exception. */
  public void tell(Consumer<IdempotencyListener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException thrown) {
      logger.warn("an idempotency listener failed", thrown);
    }
  }
}
