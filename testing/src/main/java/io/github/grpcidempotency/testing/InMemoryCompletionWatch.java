package io.github.grpcidempotency.testing;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.CompletionWatch;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Checks fifty times a second whether the watched operations are still running. */
final class InMemoryCompletionWatch implements CompletionWatch {
  private final Predicate<IdempotencyKey> inFlight;
  private final Consumer<IdempotencyKey> ended;
  private final Set<IdempotencyKey> watched = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder().setDaemon(true).setNameFormat("in-memory-watch").build());

  InMemoryCompletionWatch(Predicate<IdempotencyKey> inFlight, Consumer<IdempotencyKey> ended) {
    this.inFlight = inFlight;
    this.ended = ended;
    ScheduledFuture<?> unused =
        timer.scheduleWithFixedDelay(this::look, 20, 20, TimeUnit.MILLISECONDS);
  }

  @Override
  public void add(IdempotencyKey key) {
    watched.add(key);
  }

  @Override
  public void remove(IdempotencyKey key) {
    watched.remove(key);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private void look() {
    List.copyOf(watched).stream().filter(inFlight.negate()).forEach(ended);
  }
}
