package io.github.grpcidempotency.event;

import java.time.Duration;
import java.util.Optional;

/** A sweep of expired records. */
public interface SweepEvent extends IdempotencyEvent {
  /** Returns how many records were deleted; zero if the sweep has failed. */
  long records();

  /**
   * Returns how long ago the oldest of these records had expired; zero if there was none, empty if
   * the sweeper does not know.
   */
  Optional<Duration> lag();
}
