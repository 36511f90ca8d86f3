package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A primary that comes back as a standby, as after a failover, under servers that stay. */
class StandbyTest {
  /** What the handler wrote before may be lost, although its older reservation is not. */
  @Test
  void anAnswerIsNotRecordedOnAnotherTimeLineThanItsReservationUnlessAFailoverLosesNothing(
      @TempDir Path data) throws IOException {
    try (KillablePostgres postgres = KillablePostgres.in(data);
        TestDatabase database = TestDatabase.in(postgres.server());
        HikariDataSource pool = PostgresThingServer.pool(database.appUrl())) {
      IdempotencyStore store = store(pool).build();
      ClaimRequest request = request();
      Claim reserved = Things.win(store, request);
      Claim takenOver = takeOver(store, database);
      Claim careless = Things.win(store(pool).timeLines(false).build(), request());
      database.execute("ALTER SYSTEM SET synchronous_standby_names = 'another'");
      database.execute("SELECT pg_reload_conf()");
      pool.getHikariPoolMXBean().softEvictConnections();
      Claim local = Things.win(store, request());

      postgres.stop();
      Files.createFile(data.resolve("standby.signal"));
      postgres.restart();
      pool.getHikariPoolMXBean().softEvictConnections();
      database.reconnect();
      assertThatExceptionOfType(SetupException.class)
          .isThrownBy(() -> store.verify(List.of(), Optional.empty()))
          .withMessageContaining("the store's pool leads to a standby")
          .withMessageContaining("targetServerType=primary");
      database.execute("SELECT pg_promote()");
      database.execute("ALTER SYSTEM RESET synchronous_standby_names");
      database.execute("SELECT pg_reload_conf()");
      pool.getHikariPoolMXBean().softEvictConnections();

      assertThat(reserved.complete(Things.ANSWER)).isEqualTo(Settled.LOST);
      assertThat(takenOver.complete(Things.ANSWER)).isEqualTo(Settled.LOST);
      assertThat(careless.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
      assertThat(local.complete(Things.ANSWER)).isEqualTo(Settled.LOST);
      assertThat(store.claim(request))
          .isInstanceOfSatisfying(
              ClaimResult.InFlight.class, unknown -> assertThat(unknown.outcomeUnknown()).isTrue());
      endLease(database, request);
      Claim retried = Things.win(store, request);
      assertThat(retried.attempt()).isEqualTo(2);
      assertThat(retried.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
    }
  }

  private static PostgresIdempotencyStore.Builder store(HikariDataSource pool) {
    return PostgresIdempotencyStore.builder(pool).lease(Duration.ofMinutes(5));
  }

  private static ClaimRequest request() {
    return Things.claimOf(UUID.randomUUID(), Things.CREATE_THING);
  }

  private static Claim takeOver(IdempotencyStore store, TestDatabase database) {
    ClaimRequest request = request();
    Things.win(store, request);
    endLease(database, request);
    return Things.win(store, request);
  }

  private static void endLease(TestDatabase database, ClaimRequest request) {
    new KeyTable(database).endLeases(request.key().caller().userId());
  }
}
