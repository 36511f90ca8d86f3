package io.github.grpcidempotency.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits for the length of a fault. */
public final class Pause {
  private Pause() {}

  /** Waits for this time, or until the thread is interrupted. The interrupt flag then stays set. */
  public static void of(Duration length) {
    try {
      TimeUnit.NANOSECONDS.sleep(length.toNanos());
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
