package io.github.grpcidempotency.postgres.internal.database;

import com.github.f4b6a3.uuid.UuidCreator;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/**
 * Makes ids of new operations with the database's time, as far as it is known. Lists are sorted by
 * ids, so a server whose clock is wrong must not use its own time. Thread-safe.
 */
public final class OperationIds {
  private static final long SMALL_DIFFERENCE = 1_000;

  /** Milliseconds from this computer's time to the database's; 0 if the two differ little. */
  private volatile long difference;

  OperationIds() {}

  public UUID next() {
    long known = difference;
    return known == 0
        ? UuidCreator.getTimeOrderedEpochFast()
        : UuidCreator.getTimeOrderedEpoch(Instant.now().plusMillis(known));
  }

  /** Compares the clock of this computer with a time that the database has returned just now. */
  public void compareClock(Instant databaseTime) {
    long now = Instant.now().until(databaseTime, ChronoUnit.MILLIS);
    if (Math.abs(now - difference) > SMALL_DIFFERENCE) {
      difference = Math.abs(now) > SMALL_DIFFERENCE ? now : 0;
    }
  }
}
