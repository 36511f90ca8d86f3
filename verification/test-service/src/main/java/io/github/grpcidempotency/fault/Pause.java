package io.github.grpcidempotency.fault;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** For how long a fault lasts. */
public final class Pause {
  private Pause() {}

  /** Waits so long, or until the thread is interrupted, which it then still is. */
  public static void of(Duration length) {
    try {
      TimeUnit.NANOSECONDS.sleep(length.toNanos());
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
