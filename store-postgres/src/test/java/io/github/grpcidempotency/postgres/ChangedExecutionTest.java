package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * During a rolling deployment, some servers run a procedure as reserved, and some as transactional.
 */
class ChangedExecutionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final int RACES = 100;

  private final KeyTable table = new KeyTable(database);
  private final UUID user = UUID.randomUUID();
  private final ClaimRequest request = Things.claimOf(user, Things.CREATE_THING);
  private final PostgresIdempotencyStore transactional = store(2);

  private static PostgresIdempotencyStore store(int smallestBatch) {
    return PostgresIdempotencyStore.builder(database.app())
        .lease(Duration.ofMinutes(5))
        .smallestBatch(smallestBatch)
        .build();
  }

  @ParameterizedTest(name = "batches of {0}")
  @ValueSource(ints = {1, 2})
  void aReservedCallDoesNotRunBesideATransaction(int smallestBatch) {
    PostgresIdempotencyStore reserved = store(smallestBatch);
    Claim running = winInTransaction();

    assertThat(reserved.claim(request)).isInstanceOf(ClaimResult.InFlight.class);

    assertThat(running.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
    assertThat(reserved.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
  }

  @ParameterizedTest(name = "batches of {0}")
  @ValueSource(ints = {1, 2})
  void aReservedCallRunsOnceATransactionHasRolledBack(int smallestBatch) {
    Claim running = winInTransaction();

    assertThat(running.release()).isEqualTo(Settled.DONE);

    assertThat(store(smallestBatch).claim(request)).isInstanceOf(ClaimResult.Won.class);
  }

  @Test
  void aReservedCallDoesNotReplaceAnExpiredRecordBesideATransaction() {
    PostgresIdempotencyStore reserved = store(2);
    Things.win(reserved, request).complete(Things.ANSWER);
    table.expire(user);
    Claim running = winInTransaction();
    assertThat(reserved.claim(request)).isInstanceOf(ClaimResult.InFlight.class);

    assertThat(running.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  @Test
  void aTransactionDoesNotRunBesideAReservation() {
    Claim running = Things.win(store(2), request);

    assertThat(transactional.claimInTransaction(request)).isInstanceOf(ClaimResult.InFlight.class);

    assertThat(running.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
    assertThat(transactional.claimInTransaction(request)).isInstanceOf(ClaimResult.Recorded.class);
  }

  @Test
  void aTransactionThatReplacesAnAbandonedReservationFencesItsOwner() {
    Claim overtaken = Things.win(store(2), request);
    table.endLeases(user);
    Claim running = winInTransaction();

    assertThat(store(2).claim(request)).isInstanceOf(ClaimResult.InFlight.class);

    assertThat(running.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
    assertThat(overtaken.complete(Things.ANSWER)).isEqualTo(Settled.LOST);
  }

  @ParameterizedTest(name = "batches of {0}")
  @ValueSource(ints = {1, 2})
  void oneOfTwoCallsThatBeginAtOnceRuns(int smallestBatch) {
    PostgresIdempotencyStore reserved = store(smallestBatch);
    int won = 0;
    for (int race = 0; race < RACES; race++) {
      ClaimRequest raced = Things.claimOf(user, Things.CREATE_THING);
      CyclicBarrier start = new CyclicBarrier(3);
      List<CompletableFuture<ClaimResult>> calls = new ArrayList<>();
      for (Supplier<ClaimResult> claim :
          List.<Supplier<ClaimResult>>of(
              () -> reserved.claim(raced),
              () -> transactional.claimInTransaction(raced),
              () -> reserved.claim(raced))) {
        calls.add(
            CompletableFuture.supplyAsync(
                () -> {
                  await(start);
                  return claim.get();
                }));
      }
      List<Claim> winners =
          calls.stream()
              .map(CompletableFuture::join)
              .filter(ClaimResult.Won.class::isInstance)
              .map(result -> ((ClaimResult.Won) result).claim())
              .toList();

      assertThat(winners).hasSizeLessThanOrEqualTo(1);
      winners.forEach(winner -> assertThat(winner.release()).isEqualTo(Settled.DONE));
      won += winners.size();
    }
    assertThat(won).isPositive();
  }

  private static void await(CyclicBarrier barrier) {
    try {
      int unused = barrier.await();
    } catch (Exception broken) {
      throw new AssertionError(broken);
    }
  }

  private Claim winInTransaction() {
    return ((ClaimResult.Won) transactional.claimInTransaction(request)).claim();
  }
}
