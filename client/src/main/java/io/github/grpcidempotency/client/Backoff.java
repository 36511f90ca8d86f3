package io.github.grpcidempotency.client;

import io.github.grpcidempotency.proto.Experimental;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waits that double from the first to the longest. Each wait is a random time between half of its
 * value and its value.
 *
 * @param first the first wait, at least a millisecond
 * @param longest the longest wait
 */
@Experimental
public record Backoff(Duration first, Duration longest) {
  /** Creates the waits. */
  public Backoff {
    if (first.toMillis() < 1 || longest.compareTo(first) < 0) {
      throw new IllegalArgumentException(
          ("a backoff must begin with at least a millisecond and must not decrease, not from %s to"
                  + " %s")
              .formatted(first, longest));
    }
  }

  /**
   * Returns how long to wait.
   *
   * @param failures the number of failures so far, at least 1
   */
  public Duration delay(int failures) {
    long whole =
        failures > 30
            ? longest.toMillis()
            : Math.min(longest.toMillis(), first.toMillis() << (failures - 1));
    return Duration.ofMillis(whole - ThreadLocalRandom.current().nextLong(whole / 2 + 1));
  }
}
