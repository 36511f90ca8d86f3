package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Receives every event, of any kind, and sometimes throws.
 *
 * @param percent how many of a hundred events it throws at
 */
record FailingListener(int percent) implements IdempotencyListener {
  @Override
  public CallScope capture() {
    failSometimes();
    return CallScope.NONE;
  }

  @Override
  public void started(LiveCounts counts) {
    failSometimes();
  }

  @Override
  public void stopped(LiveCounts counts) {
    failSometimes();
  }

  @Override
  public void onEvent(IdempotencyEvent event) {
    failSometimes();
  }

  private void failSometimes() {
    if (ThreadLocalRandom.current().nextInt(100) >= percent) {
      return;
    }
    switch (ThreadLocalRandom.current().nextInt(4)) {
      case 0 -> throw new AssertionError("a listener's assertion fails");
      case 1 -> throw new NoClassDefFoundError("a/listener/Needs");
      case 2 -> throw new StackOverflowError("a listener calls itself");
      default -> throw new IllegalStateException("a listener fails");
    }
  }
}
