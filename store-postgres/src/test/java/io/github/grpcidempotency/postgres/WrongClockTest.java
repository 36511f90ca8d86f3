package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.postgres.internal.database.Handles;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.database.Refusals;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Ids, by which lists are sorted, have the database's time. */
class WrongClockTest {
  @Test
  void aServerWithAWrongClockMakesIdsWithTheDatabasesTime() {
    RecordDatabase records =
        new RecordDatabase(
            new PGSimpleDataSource(), // is not used
            Optional.empty(),
            new Handles(jdbi -> {}),
            new Refusals(ClaimPreemptedException::new, ClaimLostException::new),
            "idempotency",
            Duration.ofMinutes(5),
            "this",
            true,
            true,
            false);
    Instant databaseTime = Instant.now().plus(Duration.ofHours(3));

    records.compareClock(databaseTime);

    assertThat(timeOf(records.newId()))
        .isBetween(databaseTime.minusSeconds(60), databaseTime.plusSeconds(60));
    records.compareClock(Instant.now());
    assertThat(timeOf(records.newId()))
        .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(1));
  }

  private static Instant timeOf(UUID id) {
    return Instant.ofEpochMilli(id.getMostSignificantBits() >>> 16);
  }
}
