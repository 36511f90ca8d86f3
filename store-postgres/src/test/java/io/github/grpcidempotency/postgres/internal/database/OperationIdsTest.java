package io.github.grpcidempotency.postgres.internal.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Ids, by which lists are sorted, have the database's time. */
class OperationIdsTest {
  @Test
  void aServerWithAWrongClockMakesIdsWithTheDatabasesTime() {
    OperationIds ids = new OperationIds();
    Instant databaseTime = Instant.now().plus(Duration.ofHours(3));

    ids.compareClock(databaseTime);

    assertThat(timeOf(ids.next()))
        .isBetween(databaseTime.minusSeconds(60), databaseTime.plusSeconds(60));
    ids.compareClock(Instant.now());
    assertThat(timeOf(ids.next()))
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(1));
  }

  private static Instant timeOf(UUID id) {
    return Instant.ofEpochMilli(id.getMostSignificantBits() >>> 16);
  }
}
