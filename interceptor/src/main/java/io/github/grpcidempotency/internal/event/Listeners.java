package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * A host's listeners. Whatever one of them throws, even an {@link Error}, reaches neither the call
 * nor the other listeners. Thread-safe.
 */
public final class Listeners {
  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(IdempotencyListener.class));
  private final List<IdempotencyListener> all;

  /** Makes listeners, which hear everything in this order. */
  public Listeners(Collection<? extends IdempotencyListener> all) {
    this.all = List.copyOf(all);
  }

  /** Returns whether nobody listens. */
  public boolean isEmpty() {
    return all.isEmpty();
  }

  /** Notifies every listener of an event. */
  public void notify(IdempotencyEvent event) {
    each(event::accept);
  }

  /** Tells every listener that somebody is busy from now on. */
  public void started(LiveCounts counts) {
    each(listener -> listener.started(counts));
  }

  /** Tells every listener that somebody is not busy any more. */
  public void stopped(LiveCounts counts) {
    each(listener -> listener.stopped(counts));
  }

  /** Captures, for every listener, the context of the call that arrives on the current thread. */
  SafeScope capture() {
    if (all.isEmpty()) {
      return SafeScope.NONE;
    }
    List<CallScope> scopes = new ArrayList<>();
    each(
        listener ->
            Optional.ofNullable(listener.capture())
                .filter(scope -> scope != CallScope.NONE)
                .ifPresent(scopes::add));
    return scopes.isEmpty() ? SafeScope.NONE : new SafeScope(scopes, this::ignore);
  }

  private void each(Consumer<IdempotencyListener> told) {
    for (IdempotencyListener listener : all) {
      try {
        told.accept(listener);
      } catch (Throwable thrown) {
        ignore(thrown);
      }
    }
  }

  private void ignore(Throwable thrown) {
    log.warn(thrown.getClass().getName(), thrown, "an idempotency listener failed");
  }
}
