package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reserved calls that run at the same time, of many users, on one and on several servers. */
class BatchedReservationsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void clear() {
    threads.shutdownNow();
    table.clear();
  }

  private static PostgresIdempotencyStore server() {
    return PostgresIdempotencyStore.builder(database.app()).build();
  }

  private static ClaimRequest newRequest() {
    return Things.claimOf(
        new IdempotencyKey(Caller.of(UUID.randomUUID()), UUID.randomUUID().toString()),
        Things.CREATE_THING,
        Fingerprinter.wholeRequest().fingerprint(Things.named("a thing")));
  }

  private static List<ClaimRequest> requests(int number) {
    return IntStream.range(0, number).mapToObj(call -> newRequest()).toList();
  }

  /** Runs something for all of them at the same time, and returns the results in order. */
  private <C, T> List<T> together(List<C> calls, Function<C, T> work) {
    CountDownLatch start = new CountDownLatch(1);
    List<CompletableFuture<T>> running =
        calls.stream()
            .map(
                call ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          awaitQuietly(start);
                          return work.apply(call);
                        },
                        threads))
            .toList();
    start.countDown();
    return running.stream().map(CompletableFuture::join).toList();
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private List<Claim> win(PostgresIdempotencyStore store, List<ClaimRequest> requests) {
    return together(requests, request -> Things.win(store, request));
  }

  private static RecordedOutcome answer(String text) {
    return new RecordedOutcome.Response(ByteString.copyFromUtf8(text), Optional.empty());
  }

  private static String answerOf(Claim claim) {
    return "answer of " + claim.operationId();
  }

  @Test
  void everyCallGetsItsOwnReservationItsOwnRecordAndItsOwnReplay() {
    PostgresIdempotencyStore store = server();
    List<ClaimRequest> requests = requests(100);

    List<Claim> claims = win(store, requests);
    assertThat(claims).extracting(Claim::request).containsExactlyElementsOf(requests);
    assertThat(together(claims, claim -> claim.complete(answer(answerOf(claim)))))
        .containsOnly(Settled.DONE);

    assertThat(together(claims, claim -> store.claim(asRetry(claim.request()))))
        .map(result -> ((ClaimResult.Recorded) result).outcome())
        .containsExactlyElementsOf(claims.stream().map(claim -> answer(answerOf(claim))).toList());
    assertThat(store.batches().calls()).isGreaterThan(store.batches().batches());
    for (Claim claim : claims) {
      assertThat(table.rowsOf(claim.request().key().caller().userId())).hasSize(1);
    }
  }

  private static ClaimRequest asRetry(ClaimRequest request) {
    return request.markedAsRetry(true);
  }

  @Test
  void releasedKeysAreFreeAndSettledOnce() {
    PostgresIdempotencyStore store = server();
    List<Claim> claims = win(store, requests(50));

    assertThat(together(claims, Claim::release)).containsOnly(Settled.DONE);
    assertThat(table.size()).isZero();
    assertThat(together(claims, claim -> claim.complete(answer("too late"))))
        .containsOnly(Settled.LOST);
    assertThat(table.size()).isZero();
  }

  @Test
  void serversThatClaimTheSameKeysInOppositeOrdersDoNotDeadlock() {
    List<PostgresIdempotencyStore> servers = List.of(server(), server());
    long deadlocks = deadlocks();
    for (int round = 0; round < 10; round++) {
      List<ClaimRequest> requests = requests(32);
      List<ClaimRequest> reversed = new ArrayList<>(requests);
      Collections.reverse(reversed);
      List<Supplier<ClaimResult>> calls = new ArrayList<>();
      for (int call = 0; call < requests.size(); call++) {
        ClaimRequest first = requests.get(call);
        ClaimRequest second = reversed.get(call);
        calls.add(() -> servers.get(0).claim(first));
        calls.add(() -> servers.get(1).claim(second));
      }

      assertThat(together(calls, Supplier::get))
          .filteredOn(ClaimResult.Won.class::isInstance)
          .hasSize(requests.size());
    }
    assertThat(deadlocks()).isEqualTo(deadlocks);
  }

  private static long deadlocks() {
    return database.one(
        Long.class, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
  }

  /** A claim waits for a transaction that inserts its key, and a settlement for a locked row. */
  @Test
  void aCallWhoseRowIsLockedDoesNotHoldUpTheOthers() {
    PostgresIdempotencyStore store = server();
    Claim locked = Things.win(store, newRequest());
    ClaimRequest inserted = newRequest();
    try (Handle transaction = database.superuser().open()) {
      transaction.begin();
      transaction.execute(
          "SELECT FROM idempotency.idempotency_keys WHERE id = ? FOR UPDATE", locked.operationId());
      insertUncommitted(transaction, inserted);
      CompletableFuture<ClaimResult> waitingClaim =
          CompletableFuture.supplyAsync(() -> store.claim(inserted), threads);
      CompletableFuture<Settled> waitingAnswer =
          CompletableFuture.supplyAsync(() -> locked.complete(answer("late")), threads);

      List<Claim> others = win(store, requests(40));
      assertThat(together(others, claim -> claim.complete(answer("in time"))))
          .containsOnly(Settled.DONE);
      assertThat(waitingClaim.isDone() && !waitingClaim.isCompletedExceptionally()).isFalse();

      transaction.rollback();
      assertThat(waitingAnswer.handle((settled, late) -> true).join()).isTrue();
      assertThat(waitingClaim.handle((result, late) -> true).join()).isTrue();
    }
  }

  private static void insertUncommitted(Handle handle, ClaimRequest request) {
    handle.execute(
        "INSERT INTO idempotency.idempotency_keys (id, idempotency_key, user_uuid, procedure,"
            + " request_hash, hash_version, lease_expires, expires)"
            + " VALUES (?, ?, ?, 'a.B/C', '', 1, now(), now() + interval '1 day')",
        UUID.randomUUID(),
        request.key().value(),
        request.key().caller().userId());
  }

  @Test
  void anAnswerWhoseResourceDoesNotExistAffectsOnlyItsOwnRecord() {
    PostgresIdempotencyStore store = server();
    List<Claim> claims = win(store, requests(40));

    List<Settled> settled =
        together(
            claims,
            claim ->
                claim.complete(
                    claim == claims.get(7)
                        ? new RecordedOutcome.Response(
                            ByteString.copyFromUtf8("no thing"),
                            Optional.of(ResourceId.of(UUID.randomUUID())))
                        : answer("an answer")));

    assertThat(settled.get(7)).isEqualTo(Settled.UNREFERRED);
    assertThat(settled).filteredOn(each -> each != Settled.UNREFERRED).containsOnly(Settled.DONE);
  }

  @Test
  void aStaleOwnerInABatchChangesNothingAndTheOthersAreSettled() {
    PostgresIdempotencyStore store = server();
    List<Claim> claims = win(store, requests(40));
    Claim stale = claims.get(3);
    table.endLeases(stale.request().key().caller().userId());
    Claim successor = Things.win(store, stale.request());

    List<Settled> settled = together(claims, claim -> claim.complete(answer(answerOf(claim))));

    assertThat(settled.get(3)).isEqualTo(Settled.LOST);
    assertThat(settled).filteredOn(Settled.DONE::equals).hasSize(39);
    assertThat(successor.complete(answer("of the successor"))).isEqualTo(Settled.DONE);
  }

  /** The connection breaks just before, or just after, the statement for several calls. */
  @ParameterizedTest
  @CsvSource({
    "INSERT INTO idempotency, false", "INSERT INTO idempotency, true",
    "UPDATE idempotency, false", "UPDATE idempotency, true"
  })
  void callsOfABatchWhoseConnectionBreaksEachHaveOneReservationAndOneAnswer(
      String statement, boolean committed) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl())) {
      PostgresIdempotencyStore store =
          PostgresIdempotencyStore.builder(pool).smallestBatch(1).build();
      for (int round = 0; round < 2; round++) {
        FaultProxy.Trap trap = committed ? proxy.cutAfter(statement) : proxy.cutBefore(statement);
        List<Claim> claims = win(store, requests(30));
        List<Optional<Settled>> settled =
            together(claims, claim -> tried(() -> claim.complete(answer(answerOf(claim)))));
        assertThat(trap.hasSprung()).isTrue();
        for (int call = 0; call < claims.size(); call++) {
          Claim claim = claims.get(call);
          assertThat(settled.get(call).orElseGet(() -> claim.complete(answer(answerOf(claim)))))
              .isEqualTo(Settled.DONE);
          assertThat(table.rowsOf(claim.request().key().caller().userId())).hasSize(1);
        }
      }
    }
  }

  private static <T> Optional<T> tried(Supplier<T> call) {
    try {
      return Optional.of(call.get());
    } catch (StoreException failure) {
      return Optional.empty();
    }
  }

  @Test
  void manyCallsUseFewConnectionsForTheirClaims() {
    try (HikariDataSource pool = database.newAppPool(20)) {
      PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
      AtomicInteger most = new AtomicInteger();
      List<Claim> claims =
          together(
              requests(64),
              request -> {
                Claim claim = Things.win(store, request);
                most.accumulateAndGet(pool.getHikariPoolMXBean().getActiveConnections(), Math::max);
                return claim;
              });
      assertThat(claims).hasSize(64);
      assertThat(most.get()).isLessThanOrEqualTo(4);
    }
  }

  @Test
  void aQueuedClaimWhoseCallerIsGoneIsNotSent() {
    PostgresIdempotencyStore store = server();
    List<ClaimRequest> slow = requests(3);
    ClaimRequest gone = newRequest();
    try (Handle transaction = database.superuser().open()) {
      transaction.begin();
      slow.forEach(request -> insertUncommitted(transaction, request));
      List<CompletableFuture<ClaimResult>> first =
          slow.stream()
              .map(request -> CompletableFuture.supplyAsync(() -> store.claim(request), threads))
              .toList();
      await().until(() -> database.blocked() == 3);
      assertThat(
              CompletableFuture.supplyAsync(() -> store.claim(gone.unless(() -> true)), threads)
                  .handle((result, dropped) -> dropped.toString())
                  .join())
          .contains("CancellationException");
      transaction.rollback();
      assertThat(first)
          .allSatisfy(won -> assertThat(won.join()).isInstanceOf(ClaimResult.Won.class));
    }
    assertThat(table.rowsOf(gone.key().caller().userId())).isEmpty();
  }
}
