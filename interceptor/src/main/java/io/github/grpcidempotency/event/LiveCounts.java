package io.github.grpcidempotency.event;

import java.time.Duration;
import java.util.Optional;

/** What one process is busy with, at the moment of asking. Thread-safe; never blocks. */
public interface LiveCounts {
  /** Returns the shard that these counts are of, if the store has shards. */
  default Optional<String> shard() {
    return Optional.empty();
  }

  /** Returns how many leases this process holds. */
  int leasesHeld();

  /** Returns how many duplicates wait for the end of a running call. */
  int callsWaiting();

  /**
   * Returns for how long the oldest call has been running; zero if none runs. Work that is run
   * without gRPC does not count.
   */
  Duration oldestCall();

  /** Returns how many answers wait to be recorded in the background. */
  int lateAnswers();

  /** Returns how many calls wait for the end of the work behind an operation. */
  int operationsWaiting();
}
