package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Records all events, in the order in which they are emitted. Thread-safe. */
public final class EventJournal {
  private final List<IdempotencyEvent> events = new CopyOnWriteArrayList<>();
  private final List<LiveCounts> live = new CopyOnWriteArrayList<>();
  private volatile Supplier<CallScope> scope = () -> CallScope.NONE;
  private volatile Consumer<IdempotencyEvent> then = event -> {};

  /** Returns the listener that records the events. */
  public IdempotencyListener listener() {
    return new IdempotencyListener() {
      @Override
      public CallScope capture() {
        return scope.get();
      }

      @Override
      public void started(LiveCounts counts) {
        live.add(counts);
      }

      @Override
      public void stopped(LiveCounts counts) {
        live.remove(counts);
      }

      @Override
      public void onEvent(IdempotencyEvent event) {
        events.add(event);
        then.accept(event);
      }
    };
  }

  /** Sets the function that captures the context of a call. */
  public void capturing(Supplier<CallScope> capture) {
    this.scope = capture;
  }

  /** Sets an action for every event. */
  public void onEach(Consumer<IdempotencyEvent> action) {
    this.then = action;
  }

  /** Returns the kinds of the events so far. */
  public List<Kind> kinds() {
    return events.stream().map(IdempotencyEvent::kind).toList();
  }

  /** Returns the events of one kind so far. */
  public <E extends IdempotencyEvent> List<E> all(Kind kind, Class<E> type) {
    return events.stream().filter(event -> event.kind() == kind).map(type::cast).toList();
  }

  public <E extends IdempotencyEvent> E only(Kind kind, Class<E> type) {
    List<E> found = all(kind, type);
    if (found.size() != 1) {
      throw new AssertionError("not one " + kind + ": " + events);
    }
    return found.get(0);
  }

  /** Returns the counts of the interceptor that has started and not stopped. */
  public Optional<LiveCounts> live() {
    return live.stream().findFirst();
  }

  /** Discards the recorded events. */
  public void clear() {
    events.clear();
  }
}
