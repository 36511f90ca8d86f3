package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.FaultProxy.Trap;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redis fails before, during or after a command: what the store says of it, and what remains. */
@NeedsProgram(REDIS)
class FailuresTest {
  /** What a command that runs a script contains. */
  private static final String CLAIM = Script.CLAIM.digest();

  private static final String RENEW = Script.RENEW.digest();
  private static final String COMPLETE = Script.COMPLETE.digest();

  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  @AutoClose static final RedisIdempotencyStore direct = store(redis.uri());

  private final FaultProxy proxy = FaultProxy.before(redis.port());
  private final RedisIdempotencyStore store = store(throughProxy());
  private final ClaimRequest request = Calls.request();

  private RedisURI throughProxy() {
    return RedisProcess.uri(proxy.port());
  }

  private static RedisIdempotencyStore store(RedisURI uri) {
    return RedisIdempotencyStore.builder(uri).timeout(Duration.ofSeconds(1)).build();
  }

  /** From then on scripts are sent by their digests. */
  @BeforeEach
  void loadScripts() {
    direct.verify(List.of(), Optional.empty());
    Calls.win(store, Calls.request());
  }

  @AfterEach
  void close() {
    store.close();
    proxy.close();
  }

  @Test
  void aClaimWhoseAnswerIsLostIsSentAgainAndWon() {
    Trap cut = proxy.cutAfter(CLAIM);

    Claim claim = Calls.win(store, request);

    assertThat(cut.hasSprung()).isTrue();
    assertThat(claim.attempt()).isEqualTo(1);
    assertThat(claim.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
  }

  @Test
  void aClaimThatNeverArrivedIsSentAgainAndWon() {
    Trap cut = proxy.cutBefore(CLAIM);

    assertThat(Calls.win(store, request).complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
    assertThat(cut.hasSprung()).isTrue();
  }

  /** The caller counts from when it has sent it again. */
  @Test
  void aClaimThatIsSentAgainBeginsItsLeaseAnew() {
    proxy.holdAfter(CLAIM, Duration.ofMillis(300)).andCut();
    CompletableFuture<Claim> claim = CompletableFuture.supplyAsync(() -> Calls.win(store, request));
    await().until(() -> leaseEnd() > 0);
    long first = leaseEnd();

    assertThat(claim.join().attempt()).isEqualTo(1);

    assertThat(leaseEnd()).isGreaterThan(first);
  }

  private long leaseEnd() {
    String name = new RecordKey("idempotency").nameOf(request.key());
    String lease = redis.with(commands -> commands.hget(name, "lease"));
    return lease == null ? 0 : Long.parseLong(lease);
  }

  @Test
  void aTakeoverWhoseAnswerIsLostIsSentAgainAndWon() {
    try (RedisIdempotencyStore crashed = shortLease(redis.uri())) {
      Calls.win(crashed, request);
    }
    awaitAbandoned();
    Trap cut = proxy.cutAfter(CLAIM);

    assertThat(Calls.win(store, request).attempt()).isEqualTo(2);
    assertThat(cut.hasSprung()).isTrue();
  }

  @Test
  void aClaimWhoseAnswerIsLostForGoodHasAnUnknownOwner() {
    proxy.cutAfter(CLAIM).andStayDown();

    StoreException failure = Calls.failureOf(() -> store.claim(request));

    assertThat(failure.phase()).isEqualTo(FailurePhase.ANSWER_LOST);
    assertThat(failure.failureCause()).isEqualTo(FailureCause.NO_CONNECTION);
    assertThat(direct.claim(request)).isInstanceOf(ClaimResult.InFlight.class);
  }

  @Test
  void aStoreThatIsClosedBeforeItsServerLetsNoCallRunUnprotected() {
    store.close();

    assertThat(Calls.failureOf(() -> store.claim(request)).failureCause())
        .isEqualTo(FailureCause.SHUTTING_DOWN);
  }

  @Test
  void anUnreachableServerReceivesNothing() {
    proxy.refuse();
    await()
        .untilAsserted(
            () -> {
              StoreException failure = Calls.failureOf(() -> store.claim(request));
              assertThat(failure.phase()).isEqualTo(FailurePhase.NOTHING_SENT);
              assertThat(failure.failureCause()).isEqualTo(FailureCause.NO_CONNECTION);
            });
  }

  /** The master that they name may serve other servers. */
  @Test
  void sentinelsThatAreOutOfReachAreNoOutage() {
    RedisURI sentinels =
        RedisURI.Builder.sentinel("127.0.0.1", RedisProcess.freePort(), "things").build();
    try (RedisIdempotencyStore lost = store(sentinels)) {
      StoreException failure = Calls.failureOf(() -> lost.claim(request));

      assertThat(FailureDecider.decide(failure, OutagePolicy.FAIL_OPEN)).isPresent();
    }
  }

  /** A server that has logged in before goes on, and may own the key. */
  @Test
  void aServerThatRefusesALoginIsNoOutage() {
    redis.with(
        commands ->
            commands.aclSetuser(
                "rotated",
                AclSetuserArgs.Builder.on()
                    .addPassword("new")
                    .allKeys()
                    .allChannels()
                    .allCommands()));
    RedisURI old = RedisURI.builder(redis.uri()).withAuthentication("rotated", "old").build();
    try (RedisIdempotencyStore refused = store(old)) {
      Calls.win(direct, request);

      StoreException failure = Calls.failureOf(() -> refused.claim(request));

      assertThat(failure.failureCause()).isEqualTo(FailureCause.NO_LOGIN);
      assertThat(FailureDecider.decide(failure, OutagePolicy.FAIL_OPEN)).isPresent();
      assertThatThrownBy(() -> refused.verify(List.of(), Optional.empty()))
          .isInstanceOf(SetupException.class)
          .hasMessageContaining("WRONGPASS");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "WRONGPASS invalid username-password pair or user is disabled. | NO_LOGIN",
        "NOAUTH HELLO must be called with the client already authenticated | NO_LOGIN",
        "NOPERM this user has no permissions to run the 'ping' command | NO_LOGIN",
        "ERR max number of clients reached | POOL_EXHAUSTED",
        "LOADING Redis is loading the dataset in memory | SHUTTING_DOWN"
      })
  void aRefusalToConnectMeansWhatItsCodeSays(String error, FailureCause cause) {
    assertThat(RedisFailure.ofConnect(new RedisCommandExecutionException(error), false).why())
        .isEqualTo(cause);
  }

  /** As a proxy is that has no connection left. */
  @Test
  void aServerThatAcceptsAConnectionAndIsSilentIsNoOutage() throws IOException {
    try (ServerSocket silent = new ServerSocket(0);
        RedisIdempotencyStore unheard = store(RedisProcess.uri(silent.getLocalPort()))) {
      assertThat(Calls.failureOf(() -> unheard.claim(request)).failureCause())
          .isEqualTo(FailureCause.NO_LOGIN);
    }
  }

  @Test
  void anAnswerAfterTheEndOfTheLeaseDoesNotWin() {
    try (RedisIdempotencyStore slow = shortLease(throughProxy())) {
      Calls.win(slow, Calls.request());
      proxy.holdAfter(CLAIM, Duration.ofMillis(1700));
      CompletableFuture<ClaimResult> late =
          CompletableFuture.supplyAsync(() -> slow.claim(request));
      awaitAbandoned();

      Claim successor = Calls.win(direct, request);

      assertThat(late.join()).isInstanceOf(ClaimResult.InFlight.class);
      assertThat(successor.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
    }
  }

  @Test
  void anAnswerThatComesLateInTheLeaseExtendsIt() {
    Duration lease = Duration.ofSeconds(3);
    try (RedisIdempotencyStore slow =
        RedisIdempotencyStore.builder(throughProxy()).lease(lease).build()) {
      Calls.win(slow, Calls.request());
      proxy.holdAfter(CLAIM, Duration.ofMillis(1500));

      Calls.win(slow, request);

      assertThat(Calls.leaseLeft(direct.claim(request))).isGreaterThan(lease.dividedBy(2));
    }
  }

  @Test
  void anAnswerThatComesLateAndCannotBeExtendedHasAnUnknownOwner() {
    try (RedisIdempotencyStore slow = shortLease(throughProxy())) {
      Calls.win(slow, Calls.request());
      proxy.holdAfter(CLAIM, Duration.ofMillis(300));
      proxy.cutAfter(RENEW).andStayDown();

      StoreException failure = Calls.failureOf(() -> slow.claim(request));

      assertThat(failure.phase()).isEqualTo(FailurePhase.ANSWER_LOST);
    }
  }

  @Test
  void aCompletionWhoseAnswerIsLostIsRepeated() {
    Claim claim = Calls.win(store, request);
    proxy.cutAfter(COMPLETE);

    StoreException failure = Calls.failureOf(() -> claim.complete(Calls.ANSWER));

    assertThat(failure.failureCause()).isEqualTo(FailureCause.CONNECTION_LOST);
    assertThat(claim.complete(Calls.answer("another"))).isEqualTo(Settled.DONE);
    assertThat(Calls.recorded(store, request)).contains(Calls.ANSWER);
  }

  @Test
  void aCommandToAFrozenServerHasAnUnknownOutcome() {
    Claim claim = Calls.win(store, request);
    redis.freeze();
    try {
      StoreException failure = Calls.failureOf(() -> claim.complete(Calls.ANSWER));

      assertThat(failure.failureCause()).isEqualTo(FailureCause.CONNECTION_LOST);
    } finally {
      redis.thaw();
    }
    await().ignoreExceptions().until(() -> claim.complete(Calls.ANSWER) == Settled.DONE);
  }

  @Test
  void aServerWithoutMemoryIsBrokenAndStillReplaysAndTakesTheAnswersOfRunningCalls() {
    Calls.win(store, request).complete(Calls.ANSWER);
    Claim running = Calls.win(store, Calls.request());
    redis.with(commands -> commands.configSet("maxmemory", "1"));
    try {
      StoreException failure = Calls.failureOf(() -> store.claim(Calls.request()));

      assertThat(failure.failureCause()).isEqualTo(FailureCause.BROKEN);
      assertThat(failure.phase()).isEqualTo(FailurePhase.NOTHING_SENT);
      assertThat(store.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
      assertThat(running.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
    } finally {
      redis.with(commands -> commands.configSet("maxmemory", "0"));
    }
  }

  /** Otherwise a duplicate would run beside them once there is memory again. */
  @Test
  void aServerWithoutMemoryStillRenewsLeasesAndMarksUnknownOutcomes() {
    try (RedisIdempotencyStore brief = shortLease(redis.uri())) {
      Claim running = Calls.win(brief, request);
      redis.with(commands -> commands.configSet("maxmemory", "1"));
      try {
        assertThat(store.renew(List.of(running))).containsExactly(running.operationId());
        assertThat(Calls.leaseLeft(store.claim(request))).isGreaterThan(Duration.ofSeconds(1));
        assertThat(running.markUnknown()).isEqualTo(Settled.DONE);
      } finally {
        redis.with(commands -> commands.configSet("maxmemory", "0"));
      }
    }
  }

  @Test
  void aServerThatCannotWriteItsDiskIsBrokenAndStillReplays() throws Exception {
    try (RedisProcess full = RedisProcess.inMemory("--save", "3600", "1");
        RedisIdempotencyStore onIt = store(full.uri())) {
      Calls.win(onIt, request).complete(Calls.ANSWER);
      full.breakSnapshots();

      StoreException failure = Calls.failureOf(() -> onIt.claim(Calls.request()));

      assertThat(failure).hasStackTraceContaining("MISCONF");
      assertThat(failure.failureCause()).isEqualTo(FailureCause.BROKEN);
      assertThat(failure.phase()).isEqualTo(FailurePhase.NOTHING_SENT);
      assertThat(onIt.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
    }
  }

  @Test
  void aServerThatRunsALongScriptIsBusy() {
    redis.with(commands -> commands.configSet("lua-time-limit", "1"));
    CompletableFuture<Void> loop = CompletableFuture.runAsync(redis::runForever);
    try {
      await()
          .untilAsserted(
              () ->
                  assertThat(Calls.failureOf(() -> store.claim(Calls.request())).failureCause())
                      .isEqualTo(FailureCause.TIMEOUT));
    } finally {
      redis.with(RedisCommands::scriptKill);
    }
    loop.join();
    Calls.win(store, request);
  }

  @Test
  void aServerThatLoadsItsDataIsStarting() {
    try (RedisProcess slow = RedisProcess.durable("--rdbcompression", "no");
        RedisIdempotencyStore onIt = store(slow.uri())) {
      slow.fill(1_000);
      slow.kill();
      slow.startLoading();
      await()
          .untilAsserted(
              () -> {
                StoreException failure = Calls.failureOf(() -> onIt.claim(request));
                assertThat(failure.failureCause()).isEqualTo(FailureCause.SHUTTING_DOWN);
                assertThat(failure.phase()).isEqualTo(FailurePhase.NOTHING_SENT);
              });
    }
  }

  @Test
  void anAnswerOfManyMegabytesIsKept() {
    RecordedOutcome large = Calls.answer("a long answer ".repeat(600_000));
    try (RedisIdempotencyStore patient =
        RedisIdempotencyStore.builder(redis.uri()).timeout(Duration.ofSeconds(30)).build()) {
      assertThat(Calls.win(patient, request).complete(large)).isEqualTo(Settled.DONE);

      assertThat(Calls.recorded(patient, request).filter(large::equals)).isPresent();
    }
  }

  @Test
  void aClaimThatArrivesAfterItsCallHasEndedChangesNothing() {
    try (RedisIdempotencyStore hasty = hasty(throughProxy())) {
      Calls.win(hasty, Calls.request());
      Trap held = proxy.holdBefore(CLAIM);
      Calls.win(hasty, request).complete(Calls.ANSWER);

      held.letThrough();

      assertThat(Calls.recorded(direct, request)).contains(Calls.ANSWER);
    }
  }

  @Test
  void aClaimThatArrivesAfterItsKeyWasReleasedBlocksItForALeaseAndNoLonger() {
    try (RedisIdempotencyStore hasty = hasty(throughProxy())) {
      Calls.win(hasty, Calls.request());
      Trap held = proxy.holdBefore(CLAIM);
      Calls.win(hasty, request).release();

      held.letThrough();

      awaitAbandoned();
      assertThat(Calls.win(direct, request).attempt()).isEqualTo(2);
    }
  }

  @Test
  void aCompletionThatArrivesAfterATakeoverIsFencedOff() {
    try (RedisIdempotencyStore hasty = hasty(throughProxy())) {
      Claim zombie = Calls.win(hasty, request);
      Trap held = proxy.holdBefore(COMPLETE);
      Calls.failureOf(() -> zombie.complete(Calls.answer("of a zombie")));
      awaitAbandoned();
      Claim successor = Calls.win(direct, request);

      held.letThrough();

      assertThat(Calls.recorded(direct, request)).isEmpty();
      assertThat(successor.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
      assertThat(Calls.recorded(direct, request)).contains(Calls.ANSWER);
    }
  }

  @Test
  void aDemotedServerReplaysItsRecordsAndKnowsNoOwnerOfOtherKeys() {
    Calls.win(store, request).complete(Calls.ANSWER);
    redis.with(commands -> commands.replicaof("127.0.0.1", RedisProcess.freePort()));
    try {
      StoreException failure = Calls.failureOf(() -> store.claim(Calls.request()));

      assertThat(failure.failureCause()).isEqualTo(FailureCause.READ_ONLY);
      assertThat(failure.phase())
          .as("the new master may know an owner")
          .isEqualTo(FailurePhase.ANSWER_LOST);
      assertThat(store.claim(request)).isInstanceOf(ClaimResult.Recorded.class);
    } finally {
      redis.promote();
    }
  }

  @Test
  void theOwnerIsUnknownIfTheSuccessorOfADemotedServerIsOutOfReach() {
    redis.with(commands -> commands.replicaof("127.0.0.1", RedisProcess.freePort()));
    try {
      proxy.holdAfter(CLAIM, Duration.ZERO).andStayDown();

      StoreException failure = Calls.failureOf(() -> store.claim(request));

      assertThat(failure.failureCause()).isEqualTo(FailureCause.NO_CONNECTION);
      assertThat(failure.phase())
          .as("no call may run unguarded")
          .isEqualTo(FailurePhase.ANSWER_LOST);
    } finally {
      redis.promote();
    }
  }

  @Test
  void aScriptThatTheServerHasNotLoadedIsSentInFull() {
    redis.with(commands -> commands.scriptFlush());

    assertThat(Calls.win(store, request).complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "LOADING Redis is loading the dataset in memory | SHUTTING_DOWN",
        "READONLY You can't write against a read only replica. script: a1b2 | READ_ONLY",
        "NOREPLICAS Not enough good replicas to write. | READ_ONLY",
        "ERR Error running script (call to f_a1): @user_script:1: -OOM command not allowed |"
            + " BROKEN",
        "MISCONF Redis is configured to save RDB snapshots | BROKEN",
        "NOPERM this user has no permissions to run the 'hset' command | BROKEN",
        "ERR Error running script (call to f_a1): @user_script:9: The user executing the script"
            + " can't run this command or subcommand script | BROKEN",
        "BUSY Redis is busy running a script. | TIMEOUT",
        "ERR something else | OTHER"
      })
  void anErrorMeansWhatItsCodeSays(String error, FailureCause cause) {
    RedisFailure failure = RedisFailure.ofCommand(new RedisCommandExecutionException(error));

    assertThat(failure.why()).isEqualTo(cause);
    assertThat(failure.mayBeDone()).isFalse();
  }

  private static RedisIdempotencyStore hasty(RedisURI uri) {
    return RedisIdempotencyStore.builder(uri)
        .lease(Duration.ofSeconds(3))
        .timeout(Duration.ofSeconds(1))
        .build();
  }

  private static RedisIdempotencyStore shortLease(RedisURI uri) {
    return RedisIdempotencyStore.builder(uri).lease(Duration.ofMillis(600)).build();
  }

  private void awaitAbandoned() {
    await()
        .until(
            () ->
                direct
                    .find(request.key(), Calls.PROCEDURE)
                    .filter(
                        found -> found instanceof ClaimResult.InFlight held && held.isAbandoned())
                    .isPresent());
  }
}
