package io.github.grpcidempotency.postgres.internal.database;

import com.github.f4b6a3.uuid.UuidCreator;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/**
 * Makes ids of new operations with the database's time, as far as it is known. Lists are sorted by
 * ids, so a server whose clock is wrong must not use its own time. Thread-safe.
 */
public final class OperationIds {
  private static final Duration SMALL_DIFFERENCE = Duration.ofSeconds(1);

  /** The time of the database less the time of this computer, if the two differ much. */
  private volatile Duration difference = Duration.ZERO;

  OperationIds() {}

  public UUID next() {
    Duration known = difference;
    return known.isZero()
        ? UuidCreator.getTimeOrderedEpochFast()
        : UuidCreator.getTimeOrderedEpoch(Instant.now().plus(known));
  }

  /** Compares the clock of this computer with a time that the database has returned just now. */
  public void compareClock(Instant databaseTime) {
    Duration now = Duration.between(Instant.now(), databaseTime);
    if (now.minus(difference).abs().compareTo(SMALL_DIFFERENCE) > 0) {
      difference = now.abs().compareTo(SMALL_DIFFERENCE) > 0 ? now : Duration.ZERO;
    }
  }
}
