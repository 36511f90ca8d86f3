package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import java.util.Optional;

/** Knows how many calls wait for another one. */
class Waiting implements IdempotencyListener {
  private volatile Optional<LiveCounts> counts = Optional.empty();

  @Override
  public void started(LiveCounts started) {
    counts = Optional.of(started);
  }

  @Override
  public void onEvent(IdempotencyEvent event) {}

  int calls() {
    return counts.map(LiveCounts::callsWaiting).orElse(0);
  }
}
