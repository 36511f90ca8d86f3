package io.github.grpcidempotency.event;

/**
 * Receives events, for metrics, logs and traces. No event contains a key, a request or a response.
 *
 * <p>Methods must return quickly. They are called on the threads that serve calls, on the executor
 * that resumes waiting calls, and on the library's own threads that renew leases, record answers
 * and sweep. {@link #onEvent} is called for the events of a call within the {@link CallScope} that
 * {@link #capture} returned for the call. An exception of a listener is logged and otherwise
 * ignored; it affects neither the call nor other listeners.
 */
@FunctionalInterface
public interface IdempotencyListener {
  /** Captures the current context of a call that has arrived, on the thread on which it arrives. */
  default CallScope capture() {
    return CallScope.NONE;
  }

  /**
   * An interceptor or an {@code IdempotentWork} has started. Its counts may be read until it is
   * closed.
   */
  default void started(LiveCounts counts) {}

  /** An interceptor or an {@code IdempotentWork} was closed. */
  default void stopped(LiveCounts counts) {}

  /**
   * Receives an event. A crash may lose events: each event states when it is emitted. A lost event
   * is not delivered again, and no event is delivered twice. A later version of the library may
   * have further kinds of events, so ignore an unknown kind.
   */
  void onEvent(IdempotencyEvent event);
}
