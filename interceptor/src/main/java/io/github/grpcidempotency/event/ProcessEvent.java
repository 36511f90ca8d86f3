package io.github.grpcidempotency.event;

import java.time.Duration;
import java.util.Optional;

/** An event of the leases or the records of a process: a renewal or a sweep. */
public interface ProcessEvent extends IdempotencyEvent {
  /**
   * Returns how many leases the process held, or how many expired records were deleted; zero for a
   * sweep that has failed.
   */
  long records();

  /** Returns how many of the leases belong to another owner now; zero for a sweep. */
  int lost();

  /**
   * Returns how long ago the oldest of the deleted records had expired; zero if there was none,
   * empty if the sweeper does not know, and for leases.
   */
  Optional<Duration> lag();
}
