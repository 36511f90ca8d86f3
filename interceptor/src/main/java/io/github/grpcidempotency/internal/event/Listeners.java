package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * The listeners of a host. An exception of a listener, even an {@link Error}, affects neither the
 * call nor the other listeners. Thread-safe.
 */
public final class Listeners {
  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(IdempotencyListener.class));
  private final List<IdempotencyListener> all;
  private final FailingKeys failingKeys = new FailingKeys();

  /** Creates the list. Every event is passed to the listeners in this order. */
  public Listeners(Collection<? extends IdempotencyListener> all) {
    this.all = List.copyOf(all);
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  FailingKeys failingKeys() {
    return failingKeys;
  }

  public void emit(IdempotencyEvent event) {
    each(listener -> listener.onEvent(event));
  }

  /** Captures the context of the call that arrives on the current thread, for every listener. */
  SafeScope capture() {
    if (isEmpty()) {
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

  /** Calls a method of every listener. */
  public void each(Consumer<IdempotencyListener> call) {
    for (IdempotencyListener listener : all) {
      try {
        call.accept(listener);
      } catch (Throwable thrown) {
        ignore(thrown);
      }
    }
  }

  private void ignore(Throwable thrown) {
    log.warn(
        thrown.getClass().getName(),
        thrown,
        "an idempotency listener threw an exception, which does not affect the call: correct the"
            + " listener");
  }
}
