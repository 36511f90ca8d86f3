package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import com.google.rpc.Code;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.ScheduleKey;
import io.github.grpcidempotency.postgres.ThingWork.Style;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Work that does not come by gRPC, with the same promises. */
class WorkTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String TOKEN =
      ScheduleKey.of("make-thing", Instant.parse("2026-12-01T00:00:00Z"));
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);
  private static final Duration SHORT_LEASE = Duration.ofMillis(1_200);
  private static final int RACERS = 12;

  private final KeyTable table = new KeyTable(database);
  private final Caller caller = Caller.of(UUID.randomUUID());
  private final List<IdempotentWork> runners = new ArrayList<>();

  @AfterEach
  void everyConnectionIsGivenBack() {
    runners.forEach(IdempotentWork::close);
    database.awaitAllConnectionsBack();
  }

  @ParameterizedTest
  @EnumSource
  void workThatIsStartedAgainAnywhereGivesTheFirstResult(Execution execution) throws Exception {
    ThingWork left = work(database.app(), execution);
    ThingWork right = work(database.newAppPool(), execution);
    Style style = ThingWork.styleOf(execution);

    WorkResult<Thing> first = left.run(style, caller, TOKEN);

    for (WorkResult<Thing> again :
        List.of(left.run(style, caller, TOKEN), right.run(style, caller, TOKEN))) {
      assertThat(again.replayed()).isTrue();
      assertThat(again.value()).isEqualTo(first.value());
      assertThat(again.operationId()).isEqualTo(first.operationId());
      assertThat(again.expires()).isEqualTo(first.expires());
    }
    assertThat(first.replayed()).isFalse();
    assertThat(left.runs() + right.runs()).isEqualTo(1);
    assertThat(table.thingsOf(caller.userId())).containsExactly(idOf(first));
  }

  @ParameterizedTest
  @EnumSource
  void startedOnTwoRunnersByManyThreadsAtOnceItIsDoneOnce(Execution execution) throws Exception {
    ThingWork left = work(database.app(), execution);
    ThingWork right = work(database.newAppPool(), execution);
    CyclicBarrier start = new CyclicBarrier(RACERS);
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    try {
      List<Future<WorkResult<Thing>>> results = new ArrayList<>();
      for (int racer = 0; racer < RACERS; racer++) {
        ThingWork runner = racer % 2 == 0 ? left : right;
        results.add(
            threads.submit(
                () -> {
                  start.await();
                  return untilDone(() -> runner.run(ThingWork.styleOf(execution), caller, TOKEN));
                }));
      }
      List<UUID> things = new ArrayList<>();
      for (Future<WorkResult<Thing>> result : results) {
        things.add(idOf(result.get()));
      }

      assertThat(things).hasSize(RACERS).containsOnly(things.get(0));
      assertThat(left.runs() + right.runs()).isEqualTo(1);
      assertThat(table.thingsOf(caller.userId())).containsExactly(things.get(0));
    } finally {
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRunnerMayWaitForAnotherOne(Execution execution) throws Exception {
    Procedure kind = attaching(execution);
    ThingWork left = work(database.app(), kind);
    ThingWork right = work(database.newAppPool(), kind);
    Style style = ThingWork.styleOf(execution);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Gate gate = Gate.shut(database.superuser())) {
      Future<WorkResult<Thing>> first =
          threads.submit(() -> left.run(style, caller, TOKEN, gate.name()));
      gate.awaitWaiting(1);
      Future<WorkResult<Thing>> second =
          threads.submit(() -> right.run(style, caller, TOKEN, gate.name()));
      await().until(this::isAwaited);
      gate.open();

      assertThat(second.get().replayed()).isTrue();
      assertThat(second.get().value()).isEqualTo(first.get().value());
      assertThat(left.runs() + right.runs()).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aTransactionalEffectAndItsRecordAreOneCommit() throws Exception {
    ThingWork work = work(database.app(), Execution.TRANSACTIONAL);

    work.run(Style.TRANSACTIONAL, caller, TOKEN);

    assertThat(table.joined(caller.userId())).isTrue();
  }

  @Test
  void anEffectThatIsCompletedInItsOwnTransactionIsOneCommitWithItsRecord() throws Exception {
    ThingWork work = work(database.app(), Execution.RESERVED);

    WorkResult<Thing> first = work.run(Style.COMPLETING, caller, TOKEN);

    assertThat(table.joined(caller.userId())).isTrue();
    assertThat(work.run(Style.COMPLETING, caller, TOKEN).value()).isEqualTo(first.value());
    assertThat(work.runs()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void workThatFailsLeavesItsTokenFreeAndATransactionNothing(Execution execution) throws Exception {
    ThingWork work = work(database.app(), execution);
    Style style = ThingWork.styleOf(execution);

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                work.run(
                    caller,
                    TOKEN,
                    ThingWork.request(),
                    () -> {
                      if (style == Style.TRANSACTIONAL) {
                        work.make(style, caller.userId(), "");
                      }
                      throw new IllegalStateException("the ledger is locked");
                    }));

    assertThat(table.rowsOf(caller.userId())).isEmpty();
    assertThat(table.thingsOf(caller.userId())).isEmpty();
    assertThat(work.run(style, caller, TOKEN).replayed()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aTerminalFailureIsRecordedWithoutItsEffectAndRepeatedAnywhere(Execution execution) {
    ThingWork left = work(database.app(), execution);
    ThingWork right = work(database.newAppPool(), execution);
    Style style = ThingWork.styleOf(execution);

    for (ThingWork work : List.of(left, right, left)) {
      assertThatExceptionOfType(WorkFailedException.class)
          .isThrownBy(
              () ->
                  work.run(
                      caller,
                      TOKEN,
                      ThingWork.request(),
                      () -> {
                        if (style == Style.TRANSACTIONAL) {
                          work.make(style, caller.userId(), "");
                        }
                        throw new WorkFailedException(
                            Code.FAILED_PRECONDITION, "the month is not over");
                      }))
          .withMessage("the month is not over")
          .satisfies(failed -> assertThat(failed.code()).isEqualTo(Code.FAILED_PRECONDITION));
    }
    assertThat(left.runs() + right.runs()).isEqualTo(1);
    assertThat(table.thingsOf(caller.userId())).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void anotherInputOrAnotherKindUnderTheSameTokenIsRefused(Execution execution) throws Exception {
    ThingWork work = work(database.app(), execution);
    ThingWork otherKind =
        work(database.app(), Procedure.named("jobs/other").execution(execution).build());
    work.run(ThingWork.styleOf(execution), caller, TOKEN);

    assertRefused(
        RefusalReason.IDEMPOTENCY_KEY_REUSED,
        () -> work.run(caller, TOKEN, Things.named("other"), Thing::getDefaultInstance));
    assertRefused(
        RefusalReason.IDEMPOTENCY_KEY_REUSED,
        () -> otherKind.run(caller, TOKEN, ThingWork.request(), Thing::getDefaultInstance));
    assertThat(work.runs() + otherKind.runs()).isEqualTo(1);
  }

  @Test
  void theSameTokenOfAnotherUserTenantOrProjectIsOtherWork() throws Exception {
    ThingWork work = work(database.app(), Execution.RESERVED);
    List<Caller> callers =
        List.of(
            caller,
            caller.inTenant("acme"),
            caller.inTenant("acme").inProject("apollo"),
            caller.inProject("apollo"),
            Caller.of(UUID.randomUUID()));

    for (Caller each : callers) {
      assertThat(work.run(Style.PLAIN, each, TOKEN).replayed()).isFalse();
    }
    for (Caller each : callers) {
      assertThat(work.run(Style.PLAIN, each, TOKEN).replayed()).isTrue();
    }
    assertThat(work.runs()).isEqualTo(callers.size());
  }

  @Test
  void whatHasAsynchronousWorkBehindItIsProcessingFirstAndThenWhatItsOutboxSays() throws Exception {
    Procedure kind =
        Procedure.named("jobs/make-thing")
            .execution(Execution.RESERVED)
            .resource(ResourceType.of("thing"), thing -> UUID.fromString(((Thing) thing).getId()))
            .status(
                OutboxStatusResolver.query(PostgresThingServer.OUTBOX_QUERY)
                    .map(IdempotencyStatus.COMPLETED, "pending")
                    .build())
            .build();
    ThingWork work = work(database.app(), kind);

    assertThat(work.run(Style.PLAIN, caller, TOKEN).status())
        .contains(IdempotencyStatus.PROCESSING);
    assertThat(work.run(Style.PLAIN, caller, TOKEN).status()).contains(IdempotencyStatus.COMPLETED);
  }

  /** Even for a kind whose calls would fail open: the guarantee is at most once. */
  @ParameterizedTest
  @EnumSource
  void nothingIsRunWhileTheDatabaseIsOutOfReach(Execution execution) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThingWork work = work(proxied, execution);
      work.run(ThingWork.styleOf(execution), caller, "to warm up");
      proxied.setConnectionTimeout(250);
      proxy.refuse();

      for (int attempt = 0; attempt < 3; attempt++) {
        assertThatExceptionOfType(WorkRefusedException.class)
            .isThrownBy(() -> work.run(ThingWork.styleOf(execution), caller, TOKEN));
      }
      assertRefused(
          RefusalReason.IDEMPOTENCY_STORE_UNAVAILABLE,
          () -> work.run(ThingWork.styleOf(execution), caller, TOKEN));
      assertThat(work.runs()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRANSACTIONAL")
  void aProcessKilledAtItsWorkBlocksTheTokenForALeaseAndThenItIsDoneOnce(Execution execution)
      throws Exception {
    ThingWork survivor = work(database.app(), execution, SHORT_LEASE);
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed = start(execution, Style.PLAIN, SHORT_LEASE, gate)) {
      gate.awaitWaiting(1);
      assertRefused(
          RefusalReason.IDEMPOTENCY_IN_PROGRESS, () -> survivor.run(Style.PLAIN, caller, TOKEN));

      doomed.kill();
      gate.open();
      WorkResult<Thing> done = untilDone(() -> survivor.run(Style.PLAIN, caller, TOKEN));

      assertThat(done.replayed()).isFalse();
      assertThat(survivor.runs()).isEqualTo(1);
      assertThat(table.thingsOf(caller.userId())).containsExactly(idOf(done));
      assertThat(table.rowsOf(caller.userId())).hasSize(1);
    }
  }

  @Test
  void aProcessKilledInATransactionLeavesNothingAndBlocksNobody() throws Exception {
    ThingWork survivor = work(database.app(), Execution.TRANSACTIONAL);
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed =
            start(Execution.TRANSACTIONAL, Style.TRANSACTIONAL, LONG_LEASE, gate)) {
      gate.awaitWaiting(1);
      assertRefused(
          RefusalReason.IDEMPOTENCY_IN_PROGRESS,
          () -> survivor.run(Style.TRANSACTIONAL, caller, TOKEN));

      doomed.kill();
      gate.open();
      WorkResult<Thing> done = untilDone(() -> survivor.run(Style.TRANSACTIONAL, caller, TOKEN));

      assertThat(done.replayed()).isFalse();
      assertThat(table.thingsOf(caller.userId())).containsExactly(idOf(done));
      assertThat(table.joined(caller.userId())).isTrue();
    }
  }

  @Test
  void aProcessKilledAfterItCommittedEffectAndResultIsReplayed() throws Exception {
    ThingWork survivor = work(database.app(), Execution.RESERVED);
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed = start(Execution.RESERVED, Style.COMPLETING, LONG_LEASE, gate)) {
      gate.awaitWaiting(1);

      doomed.kill();
      WorkResult<Thing> again = survivor.run(Style.COMPLETING, caller, TOKEN);

      assertThat(again.replayed()).isTrue();
      assertThat(table.thingsOf(caller.userId())).containsExactly(idOf(again));
      assertThat(survivor.runs()).isZero();
    }
  }

  /** The fence: what wakes up too late can neither record nor, in its transaction, take effect. */
  @Test
  void aProcessThatWakesUpAfterAnotherTookOverChangesNothing() throws Exception {
    ThingWork survivor = work(database.app(), Execution.RESERVED, SHORT_LEASE);
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess sleeper =
            start(Execution.RESERVED, Style.LATE_COMPLETING, SHORT_LEASE, gate)) {
      gate.awaitWaiting(1);
      sleeper.stop();
      WorkResult<Thing> done = untilDone(() -> survivor.run(Style.COMPLETING, caller, TOKEN));
      List<String> rows = table.rowsOf(caller.userId());

      sleeper.resume();
      gate.open();

      assertThat(sleeper.awaitLine("failed")).contains("WorkRefusedException", Things.IN_PROGRESS);
      assertThat(table.rowsOf(caller.userId())).isEqualTo(rows);
      assertThat(table.thingsOf(caller.userId())).containsExactly(idOf(done));
    }
  }

  /** A job may make up for calls that its users might still repeat: one kind, one token. */
  @ParameterizedTest
  @EnumSource
  void aCallAndAPieceOfWorkOfOneKindAndTokenAreOneOperation(Execution execution) throws Exception {
    Procedure kind =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).execution(execution).build();
    ThingWork work = work(database.newAppPool(), kind);
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server = PostgresThingServer.on(database.app()).execution(execution).start();
        ThingClient client = ThingClient.to(server.port())) {
      Caller user = Caller.of(client.user());
      CreateThingRequest request = Things.waitingAt(gate);
      Callable<WorkResult<Thing>> asWork =
          () ->
              work.run(
                  user,
                  client.key(),
                  request,
                  () -> work.make(ThingWork.styleOf(execution), user.userId(), gate.name()));
      CompletableFuture<Reply> call = client.startThing(request);
      gate.awaitWaiting(1);
      assertRefused(RefusalReason.IDEMPOTENCY_IN_PROGRESS, asWork);
      gate.open();

      Thing called = call.join().thing();
      assertThat(asWork.call().value()).isEqualTo(called);
      assertThat(work.runs()).isZero();

      ThingClient another = client.withNewKey();
      WorkResult<Thing> worked =
          work.run(
              user,
              another.key(),
              request,
              () -> work.make(ThingWork.styleOf(execution), user.userId(), ""));
      Reply replay = another.createThing(request);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.thing()).isEqualTo(worked.value());
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  @Test
  void theProblemsOfKindsAndStoreAreReportedTogether() {
    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(
            () ->
                work(
                    database.app(),
                    Procedure.named("jobs/wrong")
                        .execution(Execution.RESERVED)
                        .retention(Duration.ZERO)
                        .resource(ResourceType.of("widget"), widget -> UUID.randomUUID())
                        .build()))
        .withMessageContaining("jobs/wrong: its retention must be positive")
        .withMessageContaining("add_resource_type('widget', …)");
  }

  private ThingWork work(DataSource pool, Execution execution) {
    return work(pool, execution, LONG_LEASE);
  }

  private ThingWork work(DataSource pool, Execution execution, Duration lease) {
    return work(pool, ThingWork.kind(execution), lease);
  }

  private ThingWork work(DataSource pool, Procedure kind) {
    return work(pool, kind, LONG_LEASE);
  }

  private ThingWork work(DataSource pool, Procedure kind, Duration lease) {
    IdempotentWork runner =
        IdempotentWork.on(PostgresIdempotencyStore.builder(pool).lease(lease).build(), kind);
    runners.add(runner);
    return new ThingWork(runner, kind, pool);
  }

  private static Procedure attaching(Execution execution) {
    return Procedure.named("jobs/make-thing")
        .execution(execution)
        .inFlight(InFlightPolicy.attach(Duration.ofMinutes(1)))
        .build();
  }

  private ServerProcess start(Execution execution, Style style, Duration lease, Gate gate) {
    return ServerProcess.start(
        WorkProcess.class,
        database.appUrl(),
        Long.toString(lease.toMillis()),
        execution.name(),
        style.name(),
        caller.userId().toString(),
        TOKEN,
        gate.name());
  }

  /** Does it again as long as it is in progress elsewhere. */
  private static WorkResult<Thing> untilDone(Callable<WorkResult<Thing>> work) {
    return await()
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> {
              try {
                return Optional.of(work.call());
              } catch (WorkRefusedException refused) {
                assertThat(refused.reason()).isEqualTo(RefusalReason.IDEMPOTENCY_IN_PROGRESS);
                return Optional.<WorkResult<Thing>>empty();
              }
            },
            Optional::isPresent)
        .orElseThrow();
  }

  /** Returns whether a runner has left word that it waits for the token. */
  private boolean isAwaited() {
    long lock = LockId.of(new IdempotencyKey(caller, TOKEN));
    return table.count("SELECT count(*) FROM idempotency.idempotency_waits WHERE lock_id = " + lock)
        == 1;
  }

  private static void assertRefused(RefusalReason reason, Callable<WorkResult<Thing>> work) {
    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(work::call)
        .satisfies(refused -> assertThat(refused.reason()).isEqualTo(reason));
  }

  private static UUID idOf(WorkResult<Thing> result) {
    return UUID.fromString(result.value().getId());
  }
}
