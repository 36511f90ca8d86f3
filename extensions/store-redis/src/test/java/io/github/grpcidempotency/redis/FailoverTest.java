package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A replica takes over: what it has and what it has not. */
@NeedsProgram(REDIS)
class FailoverTest {
  private static final Durability CONFIRMED = Durability.inMemory().acknowledgedBy(1);
  private static final Durability UNCONFIRMED = Durability.inMemory().acknowledgedBy(0);

  @Test
  void aReservationThatNoReplicaHasIsNotWonAndIsGivenBack() {
    try (RedisProcess master = RedisProcess.inMemory();
        RedisProcess replica = RedisProcess.inMemory().replicate(master);
        RedisIdempotencyStore store = store(master.uri(), CONFIRMED)) {
      ClaimRequest request = Calls.request();
      Claim running = Calls.win(store, Calls.request());
      replica.freeze();

      StoreException claimed = Calls.failureOf(() -> store.claim(request));
      StoreException completed = Calls.failureOf(() -> running.complete(Calls.ANSWER));

      assertThat(claimed.phase()).isEqualTo(FailurePhase.ANSWER_LOST);
      assertThat(completed.failureCause())
          .as("it may be done")
          .isEqualTo(FailureCause.CONNECTION_LOST);
      replica.thaw();
      awaitConfirmation(() -> running.complete(Calls.ANSWER) == Settled.DONE);
      assertThat(Calls.win(store, request).attempt()).isEqualTo(1);
    }
  }

  @Test
  void anAnswerThatNoReplicaHasIsNotReplayed() {
    try (RedisProcess master = RedisProcess.inMemory();
        RedisProcess replica = RedisProcess.inMemory().replicate(master);
        RedisIdempotencyStore unconfirmed = store(master.uri(), UNCONFIRMED);
        RedisIdempotencyStore store = store(master.uri(), CONFIRMED)) {
      ClaimRequest request = Calls.request();
      replica.freeze();
      Calls.win(unconfirmed, request).complete(Calls.ANSWER);

      Calls.failureOf(() -> store.claim(request));
      Calls.failureOf(() -> Calls.recorded(store, request));
      ClaimResult.Recorded recorded = (ClaimResult.Recorded) unconfirmed.claim(request);
      Calls.failureOf(
          () -> store.retain(Calls.withRetention(request, Duration.ofHours(9)), recorded));

      replica.thaw();
      awaitConfirmation(() -> Calls.recorded(store, request).equals(Optional.of(Calls.ANSWER)));
    }
  }

  @Test
  void anAnswerThatNoReplicaHasIsNotReplayedEitherByAServerThatGetsNoMoreClaims() {
    try (RedisProcess master = RedisProcess.inMemory();
        RedisProcess replica = RedisProcess.inMemory().replicate(master);
        RedisIdempotencyStore unconfirmed = store(master.uri(), UNCONFIRMED);
        RedisIdempotencyStore store =
            RedisIdempotencyStore.builder(master.uri())
                .durability(CONFIRMED)
                .timeout(Duration.ofMillis(300))
                .settingsInterval(Duration.ofNanos(1))
                .build()) {
      store.verify(List.of(), Optional.empty());
      ClaimRequest request = Calls.request();
      replica.freeze();
      Calls.win(unconfirmed, request).complete(Calls.ANSWER);
      master.with(commands -> commands.configSet("maxmemory-policy", "allkeys-lru"));

      Calls.failureOf(() -> store.claim(request));

      replica.thaw();
      awaitConfirmation(() -> store.claim(request) instanceof ClaimResult.Recorded);
    }
  }

  @Test
  void aPromotedReplicaHasEverythingThatItHasConfirmed() {
    try (RedisProcess master = RedisProcess.inMemory();
        RedisProcess replica = RedisProcess.inMemory().replicate(master);
        RedisIdempotencyStore before =
            RedisIdempotencyStore.builder(master.uri()).durability(CONFIRMED).build();
        RedisIdempotencyStore after = store(replica.uri(), UNCONFIRMED)) {
      List<ClaimRequest> requests = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        ClaimRequest request = Calls.request();
        Calls.win(before, request).complete(Calls.ANSWER);
        requests.add(request);
      }
      master.kill();
      replica.promote();

      assertThat(requests)
          .allSatisfy(request -> assertThat(Calls.recorded(after, request)).contains(Calls.ANSWER));
    }
  }

  /** Since Redis 7.2, WAIT confirms at once on a connection that has written nothing. */
  @Test
  void aUserThatMayNotPublishBeforeTheWaitGetsNoConfirmation() {
    try (RedisProcess master = RedisProcess.inMemory();
        RedisProcess replica = RedisProcess.inMemory().replicate(master)) {
      master.with(
          commands ->
              commands.aclSetuser(
                  "mute",
                  AclSetuserArgs.Builder.on()
                      .addPassword("secret")
                      .allKeys()
                      .allChannels()
                      .allCommands()
                      .removeCommand(CommandType.PUBLISH)));
      RedisURI mute = RedisURI.builder(master.uri()).withAuthentication("mute", "secret").build();
      try (RedisIdempotencyStore store = store(mute, CONFIRMED)) {
        Calls.failureOf(() -> store.claim(Calls.request()));
      }
      assertThat(replica.uri()).isNotNull();
    }
  }

  @Test
  @Tag("torture")
  void sentinelsLeadTheStoreToTheNewMaster() throws Exception {
    assertThat(underFailovers(1, CONFIRMED)).matches(Workload.Found::isSound);
  }

  @Test
  @Tag("torture")
  void manyFailoversLoseNothingThatAReplicaHasConfirmed() throws Exception {
    assertThat(underFailovers(10, CONFIRMED)).matches(Workload.Found::isSound);
  }

  @Test
  @Tag("torture")
  void manyFailoversMayLoseUnconfirmedWrites() throws Exception {
    assertThat(underFailovers(10, UNCONFIRMED).stuck()).isZero();
  }

  /** Kills the master again and again; what was killed comes back as a replica. */
  private static Workload.Found underFailovers(int failovers, Durability durability)
      throws Exception {
    try (RedisProcess first = RedisProcess.inMemory();
        RedisProcess second = RedisProcess.inMemory().replicate(first);
        RedisSentinel sentinel = new RedisSentinel(first);
        RedisIdempotencyStore one = store(sentinel.uri(), durability);
        RedisIdempotencyStore other = store(sentinel.uri(), durability);
        Workload workload = new Workload(one, other)) {
      for (int failover = 0; failover < failovers; failover++) {
        int before = workload.answeredSoFar();
        await().until(() -> workload.answeredSoFar() > before + 100);
        sentinel.awaitReplica();
        // On a busy machine the sentinel may have replaced a living master meanwhile.
        RedisProcess master = sentinel.namesMaster(first) ? first : second;
        RedisProcess replica = master == first ? second : first;
        master.kill();
        sentinel.awaitMaster(replica);
        master.startAgain();
        master.follow(replica);
      }
      int before = workload.answeredSoFar();
      await().until(() -> workload.answeredSoFar() > before + 100);
      Workload.Found found = workload.end(one);
      System.out.println(failovers + " failovers, " + durability + ": " + found);
      return found;
    }
  }

  /** A replica that has been away has to catch up first. */
  private static void awaitConfirmation(Callable<Boolean> done) {
    await().ignoreExceptionsInstanceOf(StoreException.class).until(done);
  }

  private static RedisIdempotencyStore store(RedisURI uri, Durability durability) {
    return RedisIdempotencyStore.builder(uri)
        .durability(durability)
        .lease(Duration.ofSeconds(3))
        .timeout(Duration.ofMillis(500))
        .build();
  }
}
