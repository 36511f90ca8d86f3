package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.test.NeedsProgram;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** When the server deletes a record by itself. */
@NeedsProgram(REDIS)
class RecordLifetimeTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  @AutoClose
  private final RedisIdempotencyStore store =
      RedisIdempotencyStore.builder(redis.uri()).lease(LEASE).build();

  private final ClaimRequest request = Calls.request();

  @Test
  void aReservationThatNobodyEndsIsDeletedAfterItsRetention() {
    Claim unused = Calls.win(store, request);

    assertThat(timeToLive()).isBetween(Duration.ofMinutes(59), request.retention().plus(LEASE));
  }

  @Test
  void aRecordIsDeletedALeaseAfterItHasExpired() {
    Calls.win(store, request).complete(Calls.ANSWER);

    assertThat(timeToLive()).isBetween(Duration.ofMinutes(59), request.retention().plus(LEASE));
  }

  @Test
  void aRetainedRecordIsDeletedLater() {
    ClaimResult.Recorded recorded = recorded();

    store.retain(Calls.withRetention(request, Duration.ofHours(10)), recorded);

    assertThat(timeToLive()).isGreaterThan(Duration.ofHours(9));
  }

  @Test
  void anotherRecordUnderTheKeyIsNotRetained() {
    ClaimResult.Recorded recorded = recorded();
    ClaimResult.Recorded other =
        ClaimResult.Recorded.of(
            UUID.randomUUID(),
            recorded.procedure(),
            recorded.fingerprint(),
            recorded.outcome(),
            recorded.expires());

    assertThat(store.retain(Calls.withRetention(request, Duration.ofHours(10)), other))
        .isEqualTo(recorded.expires());

    assertThat(timeToLive()).isLessThan(Duration.ofHours(2));
  }

  @Test
  void aCallThatRunsLongerThanItsRetentionIsNotDeleted() {
    Calls.win(store, Calls.withRetention(request, Duration.ofMillis(50)));

    assertThat(timeToLive()).isGreaterThan(LEASE.multipliedBy(3).dividedBy(2));
  }

  @Test
  void anOwnerFindsItsCompletionAfterTheRecordHasExpired() {
    Claim claim = Calls.win(store, Calls.withRetention(request, Duration.ofMillis(50)));
    claim.complete(Calls.ANSWER);
    await().until(() -> store.find(request.key(), Calls.PROCEDURE).isEmpty());

    assertThat(claim.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
  }

  private ClaimResult.Recorded recorded() {
    Calls.win(store, request).complete(Calls.ANSWER);
    return (ClaimResult.Recorded) store.claim(request);
  }

  private Duration timeToLive() {
    String name = new RecordKey("idempotency").nameOf(request.key());
    return Duration.ofMillis(redis.with(commands -> commands.pttl(name)));
  }
}
