package io.github.grpcidempotency.spi;

import java.time.Duration;

/**
 * How often a store has sent statements for several calls at once.
 *
 * @param batches the number of such statements
 * @param calls the number of calls in them
 * @param queued the total time that these calls waited for earlier statements to end
 */
public record BatchCounts(long batches, long calls, Duration queued) {
  /** The counts of a store that sends every statement alone. */
  public static final BatchCounts NONE = new BatchCounts(0, 0, Duration.ZERO);

  /** Returns the sum. */
  public BatchCounts plus(BatchCounts other) {
    return new BatchCounts(batches + other.batches, calls + other.calls, queued.plus(other.queued));
  }
}
