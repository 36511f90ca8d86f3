package io.github.grpcidempotency.admin;

import static io.github.grpcidempotency.admin.Shop.ACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Nothing comes between the look at an owner and the deletion of its reservation. */
class FreeRacesTest {
  @RegisterExtension static final Shop shop = Shop.open();

  private static final int ROUNDS = 10;

  private final Administration operator = shop.operator();
  private final PostgresIdempotencyStore store = shop.store();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  private record Pair<A, B>(A first, B second) {}

  @Test
  void aRenewalThatIsNotYetCommittedSavesItsOwner() throws Exception {
    Claim claim = shop.claim();
    shop.endLease(claim.operationId());
    try (Handle owner = Jdbi.create(shop.as(Shop.APP)).open()) {
      owner.begin();
      owner
          .createQuery(
              "SELECT idempotency.renew_leases(ARRAY[:id], ARRAY[1], interval '5 minutes')")
          .bind("id", claim.operationId())
          .mapTo(UUID.class)
          .one();
      Future<ActResult> freed = freeInBackground(claim, false);
      awaitFreeWaits();
      owner.commit();

      assertThat(freed.get()).isEqualTo(ActResult.OWNER_LIVES);
    }
    assertThat(operator.find(claim.operationId()).orElseThrow().state())
        .isEqualTo(OperationState.RUNNING);
  }

  @Test
  void aCompletionThatIsNotYetCommittedStands() throws Exception {
    Claim claim = shop.claim();
    shop.endLease(claim.operationId());
    try (Handle owner = Jdbi.create(shop.as(Shop.APP)).open()) {
      complete(owner, claim);
      Future<ActResult> freed = freeInBackground(claim, true);
      awaitFreeWaits();
      owner.commit();

      assertThat(freed.get()).isEqualTo(ActResult.ALREADY_RECORDED);
    }
    assertThat(operator.find(claim.operationId()).orElseThrow().state())
        .isEqualTo(OperationState.COMPLETED);
  }

  @Test
  void aTransactionThatKeepsTheRowLockedIsNotWaitedForLong() {
    Claim claim = shop.claim();
    shop.endLease(claim.operationId());
    try (Handle owner = Jdbi.create(shop.as(Shop.APP)).open()) {
      complete(owner, claim);

      assertThat(operator.free(claim.operationId(), ACT, true, false)).isEqualTo(ActResult.LOCKED);

      owner.commit();
    }
    assertThat(operator.find(claim.operationId()).orElseThrow().state())
        .isEqualTo(OperationState.COMPLETED);
    AuditEntry refused = operator.audit(AuditQuery.newest(1)).get(0);
    assertThat(refused.result()).isEqualTo(ActResult.LOCKED);
    assertThat(refused.procedure()).contains(Shop.CREATE_ORDER);
    assertThat(refused.deleted()).isZero();
    assertThat(refused.forced()).isFalse();
  }

  @Test
  void aRowThatIsReleasedMeanwhileIsNotFound() throws Exception {
    Claim claim = shop.claim();
    try (Handle owner = Jdbi.create(shop.as(Shop.APP)).open()) {
      owner.begin();
      setUser(owner, claim);
      owner.execute("DELETE FROM idempotency.idempotency_keys WHERE id = ?", claim.operationId());
      Future<ActResult> freed = freeInBackground(claim, true);
      awaitFreeWaits();
      owner.commit();

      assertThat(freed.get()).isEqualTo(ActResult.NOT_FOUND);
    }
  }

  @Test
  void eitherASuccessorTakesOverOrTheKeyIsFreed() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Claim claim = shop.claim();
      UUID id = claim.operationId();
      shop.endLease(id);

      Pair<ClaimResult, ActResult> raced =
          race(() -> store.claim(claim.request()), () -> operator.free(id, ACT, false, false));

      boolean tookOver =
          raced.first() instanceof ClaimResult.Won won && won.claim().operationId().equals(id);
      assertThat(raced.second()).isEqualTo(tookOver ? ActResult.OWNER_LIVES : ActResult.DONE);
      assertThat(operator.find(id).isPresent()).isEqualTo(tookOver);
    }
  }

  @Test
  void ofTwoOperatorsOneFreesTheKey() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      UUID id = shop.claim().operationId();

      Pair<ActResult, ActResult> raced =
          race(
              () -> operator.free(id, ACT, true, false), () -> operator.free(id, ACT, true, false));

      assertThat(List.of(raced.first(), raced.second()))
          .containsExactlyInAnyOrder(ActResult.DONE, ActResult.NOT_FOUND);
    }
  }

  @Test
  void aCallThatWaitsOnAnotherServerIsWokenByAFree() throws Exception {
    ClaimRequest request = Shop.request(Caller.of(UUID.randomUUID()).inTenant("acme"), "a key");
    Claim claim = shop.claim(request);
    Set<IdempotencyKey> ended = ConcurrentHashMap.newKeySet();
    try (CompletionWatch watch = store.watch(ended::add);
        Handle listener = Jdbi.create(shop.as(Shop.APP)).open()) {
      listener.execute("LISTEN idempotency");
      watch.add(request.key());
      await()
          .until(() -> !shop.rows("SELECT lock_id FROM idempotency.idempotency_waits").isEmpty());
      String awaited = shop.rows("SELECT lock_id FROM idempotency.idempotency_waits").get(0);

      assertThat(operator.free(claim.operationId(), ACT, true, false)).isEqualTo(ActResult.DONE);

      PGConnection notified = listener.getConnection().unwrap(PGConnection.class);
      await()
          .until(
              () ->
                  Stream.of(notified.getNotifications(100))
                      .map(PGNotification::getParameter)
                      .anyMatch(awaited::equals));
      await().until(() -> ended.contains(request.key()));
    }
  }

  private Future<ActResult> freeInBackground(Claim claim, boolean evenIfLive) {
    return threads.submit(() -> operator.free(claim.operationId(), ACT, evenIfLive, false));
  }

  private static void awaitFreeWaits() {
    await()
        .until(
            () ->
                !shop.rows(
                        "SELECT query FROM pg_stat_activity"
                            + " WHERE usename = 'admin_operator' AND wait_event_type = 'Lock'")
                    .isEmpty());
  }

  /** Records an answer, and leaves the transaction open. */
  private static void complete(Handle owner, Claim claim) {
    owner.begin();
    setUser(owner, claim);
    owner.execute(
        "UPDATE idempotency.idempotency_keys SET completed = now() WHERE id = ? AND attempt = 1",
        claim.operationId());
  }

  private static void setUser(Handle owner, Claim claim) {
    owner
        .createQuery("SELECT set_config('app.current_user_id', :user, true)")
        .bind("user", claim.request().key().caller().userId().toString())
        .mapTo(String.class)
        .one();
  }

  private <A, B> Pair<A, B> race(Callable<A> first, Callable<B> second) throws Exception {
    CyclicBarrier start = new CyclicBarrier(2);
    Future<A> one =
        threads.submit(
            () -> {
              start.await();
              return first.call();
            });
    Future<B> other =
        threads.submit(
            () -> {
              start.await();
              return second.call();
            });
    return new Pair<>(one.get(), other.get());
  }
}
