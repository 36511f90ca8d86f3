package io.github.grpcidempotency.event;

import io.github.grpcidempotency.spi.BatchCounts;
import io.github.grpcidempotency.spi.ConnectionCounts;
import java.time.Duration;
import java.util.Optional;

/** The current activity of one process. Thread-safe; never blocks. */
public interface LiveCounts {
  /** Returns the shard to which these counts belong, if the store has shards. */
  default Optional<String> shard() {
    return Optional.empty();
  }

  /** Returns how many leases this process holds. */
  int leasesHeld();

  /** Returns how many duplicates are waiting for the end of a running call. */
  int callsWaiting();

  /**
   * Returns how long the oldest call has been running; zero if no call is running. Work without
   * gRPC does not count.
   */
  Duration oldestCall();

  /** Returns how many answers are waiting to be recorded in the background. */
  int lateAnswers();

  /** Returns how often the store has sent statements for several calls at once, so far. */
  default BatchCounts batches() {
    return BatchCounts.NONE;
  }

  /** Returns how many of the store's own connections are in use. */
  default ConnectionCounts connections() {
    return ConnectionCounts.NONE;
  }
}
