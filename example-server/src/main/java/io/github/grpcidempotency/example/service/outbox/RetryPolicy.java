package io.github.grpcidempotency.example.service.outbox;

import java.time.Duration;

/**
 * How often an entry is tried, and how long it waits after a failure: twice as long each time.
 *
 * @param maxAttempts after which an entry has failed for good
 * @param firstPause the wait after the first failure
 */
public record RetryPolicy(int maxAttempts, Duration firstPause) {
  /** Returns what the example uses: three attempts, within a second. */
  public static RetryPolicy threeAttempts() {
    return new RetryPolicy(3, Duration.ofMillis(200));
  }

  boolean isLast(int attempt) {
    return attempt >= maxAttempts;
  }

  Duration pauseAfter(int attempt) {
    return firstPause.multipliedBy(1L << (attempt - 1));
  }
}
