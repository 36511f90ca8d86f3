package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static io.github.grpcidempotency.store.FailureCause.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.KeyEvent;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.event.ProcessEvent;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Which events listeners receive, when, and with which values. */
class EventsTest extends CallTest {
  private static final String HEADER = IdempotencyMetadata.KEY.name();

  @Test
  void aRunIsReportedFromItsKeyToItsSettlement() {
    ThingServer server = listening();

    UUID operation = operationOf(call(server, "a thing").as(ALICE, "acme/apollo").key(KEY).end());

    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED);
    KeyEvent found = journal.only(Kind.KEY_FOUND, KeyEvent.class);
    assertThat(found.source()).isEqualTo(HEADER);
    assertThat(found.tenant()).contains("acme");
    assertThat(found.project()).contains("apollo");
    assertThat(found.procedure()).isEqualTo(ThingServer.CREATE_THING.getFullMethodName());
    assertThat(found.entry()).isEqualTo(Entry.CALL);
    assertThat(found.keyPolicy()).isEqualTo(KeyPolicy.OPTIONAL);
    assertThat(found.execution()).isEqualTo(Execution.RESERVED);
    ClaimEvent claimed = journal.only(Kind.CLAIMED, ClaimEvent.class);
    assertThat(claimed.operationId()).contains(operation);
    assertThat(claimed.attempt()).isEqualTo(1);
    assertThat(claimed.took()).isPositive();
    SettlementEvent settled = journal.only(Kind.SETTLED, SettlementEvent.class);
    assertThat(settled.operationId()).contains(operation);
    assertThat(settled.settlement()).isEqualTo(Settlement.COMPLETE);
    assertThat(settled.handler()).isPositive();
    assertThat(settled.took()).isPositive();
  }

  /** When a claim is reported, its reservation is stored; when a settlement is, its record. */
  @Test
  void aClaimIsReportedBeforeItsHandlerAndASettlementBetweenItsCommitAndTheAnswer() {
    ThingServer server = listening();
    List<Object> seen = new CopyOnWriteArrayList<>();
    AtomicInteger answered = new AtomicInteger();
    journal.onEach(
        event -> {
          if (event.kind() == Kind.CLAIMED || event.kind() == Kind.SETTLED) {
            seen.add(stands().getClass().getSimpleName());
            seen.add(server.runs());
            seen.add(answered.get());
          }
        });

    TestCall.Started started = keyed(server).start();
    var unused = started.seen().thenRun(answered::incrementAndGet);
    started.end();

    assertThat(seen).containsExactly("InFlight", 0, 0, "Recorded", 1, 0);
  }

  @Test
  void aReplayNamesTheOperationAndTheTraceOfItsRun() {
    ThingServer server = listening();
    journal.capturing(() -> new Traced("the first"));
    UUID operation = operationOf(keyed(server).end());
    journal.clear();
    journal.capturing(() -> new Traced("the second"));

    keyed(server).end();

    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.REPLAYED);
    ReplayEvent replayed = journal.only(Kind.REPLAYED, ReplayEvent.class);
    assertThat(replayed.operationId()).contains(operation);
    assertThat(replayed.failure()).isFalse();
    assertThat(replayed.took()).isPositive();
    assertThat(replayed.trace()).contains(ByteString.copyFromUtf8("the first"));
  }

  @Test
  void aTraceThatIsTooLongIsNotRecorded() {
    ThingServer server = listening();
    journal.capturing(() -> new Traced("x".repeat(ClaimRequest.MAX_TRACE + 1)));
    keyed(server).end().first();
    keyed(server).end();

    assertThat(journal.only(Kind.REPLAYED, ReplayEvent.class).trace()).isEmpty();
  }

  @Test
  void aCallWithoutARequiredKeyIsReportedAndThenItsRefusal() {
    call(listening(), "a thing").as(ALICE).end().untouched();
    assertThat(journal.kinds()).containsExactly(Kind.KEY_MISSING);
    journal.clear();
    ThingServer server = listening(thing -> thing.keyPolicy(KeyPolicy.REQUIRED));

    call(server, "a thing").as(ALICE).end();

    assertThat(journal.kinds()).containsExactly(Kind.KEY_REQUIRED, Kind.REFUSED);
    assertThat(journal.only(Kind.REFUSED, RefusalEvent.class).reason())
        .isEqualTo(RefusalReason.KEY_REQUIRED);
  }

  @Test
  void whatIsWrongWithAKeyIsReported() {
    assertThat(problemOf("not a uuid")).isEqualTo(KeyProblem.FORMAT);
    assertThat(problemOf("")).isEqualTo(KeyProblem.EMPTY);
    assertThat(problemOf(KEY, KEY)).isEqualTo(KeyProblem.REPEATED);
    assertThat(problemOf(call -> Optional.of(FoundKey.of("x".repeat(513)))))
        .isEqualTo(KeyProblem.TOO_LONG);
    assertThat(problemOf(call -> Optional.of(FoundKey.of("a\nb"))))
        .isEqualTo(KeyProblem.CHARACTERS);
    assertThat(
            problemOf(
                call -> {
                  throw KeyException.malformed("no such event");
                }))
        .isEqualTo(KeyProblem.OTHER);
  }

  @Test
  void theOneSourceThatFailedIsNamed() {
    assertThat(failureOf(() -> KeyException.unauthenticated("a wrong signature")))
        .isEqualTo(KeyProblem.UNAUTHENTICATED);
    assertThat(failureOf(() -> new StoreException("out of reach", null)))
        .isEqualTo(KeyProblem.UNAVAILABLE);
    assertThat(failureOf(() -> new IllegalStateException("a defect"))).isEqualTo(KeyProblem.DEFECT);
  }

  @Test
  void aResolverOfCallersThatThrowsIsReported() {
    IdempotencyInterceptor unresolved =
        IdempotencyInterceptor.builder(
                Procedures.of(
                    Procedure.of(ThingServer.CREATE_THING).execution(Execution.RESERVED).build()),
                () -> {
                  throw new IllegalStateException("the directory is out of reach");
                })
            .store(memory)
            .listener(journal.listener())
            .build();
    grpc.registerCloseable(unresolved);

    keyed(start(server().bare().inside(unresolved))).end();

    assertThat(journal.kinds()).containsExactly(Kind.EXTRACTION_FAILED);
    assertThat(journal.only(Kind.EXTRACTION_FAILED, KeyEvent.class).source()).isEqualTo("caller");
    assertThat(journal.only(Kind.EXTRACTION_FAILED, KeyEvent.class).problem())
        .contains(KeyProblem.DEFECT);
  }

  @Test
  void aReusedKeyIsReportedWithWhatDiffersAndTheOperationInTheWay() {
    ThingServer server = listening();
    UUID operation = operationOf(keyed(server).end());

    call(server, "another thing").as(ALICE).key(KEY).end();

    RefusalEvent refused = journal.only(Kind.REFUSED, RefusalEvent.class);
    assertThat(refused.reason()).isEqualTo(RefusalReason.KEY_REUSED);
    assertThat(refused.detail()).contains("request");
    assertThat(refused.operationId()).contains(operation);
  }

  @Test
  void aStoreThatCannotAnswerIsReportedWithItsCause() {
    ThingServer server = listening();
    store.failClaims(NOTHING_SENT, TIMEOUT);

    keyed(server).end();

    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.REFUSED);
    assertThat(journal.only(Kind.REFUSED, RefusalEvent.class).detail()).contains("timeout");
  }

  @Test
  void aTakeoverIsReportedAsALaterRunOfTheSameOperation() throws InterruptedException {
    ThingServer dead = start();
    TestCall.Started zombie = keepOneRunning(dead);
    ThingService.Running running = dead.things().nextRunning();
    memory.advance(LEASE);

    UUID operation = operationOf(keyed(listening()).end());

    ClaimEvent claimed = journal.only(Kind.CLAIMED, ClaimEvent.class);
    assertThat(claimed.attempt()).isEqualTo(2);
    assertThat(claimed.operationId()).contains(operation);
    running.succeed();
    zombie.end();
  }

  @Test
  void aWaitIsReportedFromItsBeginToTheAnswer() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server, 1).get(0);
    LiveCounts live = journal.live().orElseThrow();
    assertThat(live.leasesHeld()).isEqualTo(1);
    assertThat(live.oldestCall()).isPositive();
    await().until(() -> live.callsWaiting() == 1);

    running.succeed();
    duplicate.end();

    assertThat(journal.kinds())
        .containsSubsequence(Kind.KEY_FOUND, Kind.ATTACHED, Kind.WAIT_ENDED, Kind.REPLAYED);
    assertWaitEnded(WaitEvent.End.ANSWERED);
    assertThat(journal.only(Kind.REPLAYED, ReplayEvent.class).took()).isPositive();
    assertThat(live.callsWaiting()).isZero();
    assertThat(live.leasesHeld()).isZero();
    await().until(() -> live.oldestCall().isZero());
  }

  @Test
  void aWaitThatEndsWithAClaimIsReportedBeforeItsRun() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server, 1).get(0);
    server.things().succeed();

    running.fail(Status.NOT_FOUND);
    duplicate.end();

    assertThat(journal.kinds()).containsSubsequence(Kind.WAIT_ENDED, Kind.CLAIMED, Kind.SETTLED);
    assertWaitEnded(WaitEvent.End.CLAIMED);
    assertThat(journal.all(Kind.CLAIMED, ClaimEvent.class))
        .hasSize(2)
        .allMatch(claimed -> isPositive(claimed));
  }

  @Test
  void aWaitThatIsOverIsReportedBeforeTheRefusal() throws InterruptedException {
    ThingServer server = patient(Duration.ofMillis(100));
    ThingService.Running running = runningOne(server);

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    assertThat(journal.kinds()).containsSubsequence(Kind.ATTACHED, Kind.WAIT_ENDED, Kind.REFUSED);
    assertWaitEnded(WaitEvent.End.GAVE_UP);
    assertThat(journal.only(Kind.WAIT_ENDED, WaitEvent.class).took())
        .isGreaterThanOrEqualTo(Duration.ofMillis(100));
    assertThat(journal.only(Kind.REFUSED, RefusalEvent.class).operationId())
        .isEqualTo(journal.only(Kind.CLAIMED, ClaimEvent.class).operationId());
    running.succeed();
  }

  @Test
  void aWaitThatIsCancelledIsReported() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    ThingService.Running running = runningOne(server);

    attach(server, 1).get(0).cancel();

    await().until(() -> !journal.all(Kind.WAIT_ENDED, WaitEvent.class).isEmpty());
    assertWaitEnded(WaitEvent.End.CANCELLED);
    running.succeed();
  }

  @Test
  void aSettlementThatFailsIsReported() {
    ThingServer server = listening();
    server
        .things()
        .handle((request, observer) -> observer.onError(Status.NOT_FOUND.asRuntimeException()));
    store.failSettlements();

    keyed(server).end();

    assertThat(journal.kinds())
        .containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLEMENT_FAILED);
    SettlementEvent failed = journal.only(Kind.SETTLEMENT_FAILED, SettlementEvent.class);
    assertThat(failed.settlement()).isEqualTo(Settlement.RELEASE);
    assertThat(failed.thrown()).isPresent();
  }

  @Test
  void aKeyIsReportedOnceTenOfItsRunsHaveFailed() {
    ThingServer server = listening();
    server
        .things()
        .handle((request, observer) -> observer.onError(Status.NOT_FOUND.asRuntimeException()));
    for (int run = 1; run < 10; run++) {
      keyed(server).end();
      call(server, "a thing").as(ALICE).key(UUID.randomUUID().toString()).end();
    }
    assertThat(journal.kinds()).doesNotContain(Kind.KEY_FAILING);
    journal.clear();

    keyed(server).end();

    assertThat(journal.kinds())
        .containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED, Kind.KEY_FAILING);
    assertThat(journal.only(Kind.KEY_FAILING, CallEvent.class).operationId())
        .isEqualTo(journal.only(Kind.CLAIMED, ClaimEvent.class).operationId());
  }

  @Test
  void anAnswerThatIsRecordedLateIsReported() {
    ThingServer server = listening();
    store.failSettlements();
    keyed(server).end();
    LiveCounts live = journal.live().orElseThrow();
    assertThat(journal.kinds())
        .containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.RECORDING_DEFERRED, Kind.REFUSED);
    assertThat(live.lateAnswers()).isEqualTo(1);

    store.recover();
    await().until(() -> !journal.all(Kind.RECORDED_LATE, CallEvent.class).isEmpty());

    CallEvent late = journal.only(Kind.RECORDED_LATE, CallEvent.class);
    assertThat(late.took()).isPositive();
    assertThat(late.operationId())
        .isEqualTo(journal.only(Kind.RECORDING_DEFERRED, CallEvent.class).operationId())
        .isEqualTo(journal.only(Kind.CLAIMED, ClaimEvent.class).operationId());
    await().until(() -> live.lateAnswers() == 0);
    assertThat(journal.all(Kind.SETTLED, SettlementEvent.class)).isEmpty();
  }

  @Test
  void aLostLeaseIsReportedOnceHoweverItIsFound() throws InterruptedException {
    InMemoryIdempotencyStore brief = new InMemoryIdempotencyStore(Duration.ofMillis(300));
    ThingServer stale = start(ThingServer.on(transport).store(brief).listener(journal.listener()));
    ThingServer successor = start(ThingServer.on(transport).store(brief));
    TestCall.Started zombie = keepOneRunning(stale);
    ThingService.Running running = stale.things().nextRunning();
    brief.advance(Duration.ofMillis(300));
    keyed(successor).end();
    await().until(() -> !journal.all(Kind.LEASE_LOST, CallEvent.class).isEmpty());

    running.succeed();
    zombie.end();

    assertThat(journal.only(Kind.LEASE_LOST, CallEvent.class).operationId())
        .isEqualTo(journal.only(Kind.CLAIMED, ClaimEvent.class).operationId());
    assertThat(journal.all(Kind.LEASES_RENEWED, ProcessEvent.class))
        .anyMatch(renewed -> renewed.lost() == 1);
  }

  @Test
  void renewalsAreReportedAndTheirFailures() throws InterruptedException {
    UnreliableStore brief =
        new UnreliableStore(new InMemoryIdempotencyStore(Duration.ofMillis(150)));
    ThingServer server = start(ThingServer.on(transport).store(brief).listener(journal.listener()));
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    await().until(() -> !journal.all(Kind.LEASES_RENEWED, ProcessEvent.class).isEmpty());

    brief.failClaims(NOTHING_SENT, NO_CONNECTION);
    await().until(() -> !journal.all(Kind.RENEWAL_FAILED, ProcessEvent.class).isEmpty());

    ProcessEvent renewed = journal.all(Kind.LEASES_RENEWED, ProcessEvent.class).get(0);
    assertThat(renewed.records()).isEqualTo(1);
    assertThat(renewed.lost()).isZero();
    assertThat(renewed.took()).isPositive();
    assertThat(journal.all(Kind.RENEWAL_FAILED, ProcessEvent.class).get(0).records()).isEqualTo(1);
    brief.recover();
    running.succeed();
    call.end();
  }

  @Test
  void anUnprotectedRunIsReported() {
    ThingServer server = listening();
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    keyed(server).end();

    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.UNPROTECTED);
    assertThat(journal.only(Kind.UNPROTECTED, UnprotectedEvent.class).cause())
        .isEqualTo(UnprotectedCause.FAILED_OPEN);
  }

  @Test
  void aStatusThatCannotBeResolvedIsReportedOncePerReplay() {
    ThingServer server =
        listening(
            thing ->
                thing.status(
                    id -> {
                      throw new IllegalStateException("the workers are out of reach");
                    }));
    UUID operation = operationOf(keyed(server).end());

    keyed(server).end();

    assertThat(journal.only(Kind.STATUS_UNKNOWN, CallEvent.class).operationId())
        .contains(operation);
    assertThat(journal.kinds()).endsWith(Kind.STATUS_UNKNOWN, Kind.REPLAYED);
  }

  @Test
  void aRetentionThatCannotBeExtendedIsReported() {
    store.failRetention();
    ThingServer server = listening(thing -> thing.retainFromLastReplay());
    UUID operation = operationOf(keyed(server).end());

    keyed(server).end();

    assertThat(journal.only(Kind.RETENTION_FAILED, CallEvent.class).operationId())
        .contains(operation);
  }

  @Test
  void allListenersReceiveEveryEventAlthoughOneOfThemThrows() {
    EventJournal second = new EventJournal();
    journal.onEach(
        event -> {
          throw new NoClassDefFoundError("metrics");
        });
    ThingServer server =
        start(
            server()
                .settings(
                    builder -> builder.listener(journal.listener()).listener(second.listener())));

    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    assertThat(journal.kinds())
        .isEqualTo(second.kinds())
        .containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED, Kind.KEY_FOUND, Kind.REPLAYED);
  }

  private ThingServer listening() {
    return start(server().listener(journal.listener()));
  }

  private ThingServer listening(UnaryOperator<ProcedureBuilder<Thing>> change) {
    return start(server().createThing(change).listener(journal.listener()));
  }

  private ThingServer patient(Duration limit) {
    return listening(thing -> thing.attach(limit));
  }

  private void assertWaitEnded(WaitEvent.End end) {
    WaitEvent ended = journal.only(Kind.WAIT_ENDED, WaitEvent.class);
    assertThat(ended.end()).isEqualTo(end);
    assertThat(ended.took()).isPositive();
  }

  private static boolean isPositive(ClaimEvent claimed) {
    return !claimed.took().isZero() && !claimed.took().isNegative();
  }

  private static UUID operationOf(Seen seen) {
    return UUID.fromString(seen.trailer(IdempotencyMetadata.OPERATION).orElseThrow());
  }

  private ClaimResult stands() {
    Procedure procedure = Procedure.annotated(ThingServer.CREATE_THING).build();
    return memory
        .find(new IdempotencyKey(Caller.of(ALICE), KEY), RecordedProcedure.of(procedure))
        .orElseThrow();
  }

  private KeyProblem problemOf(String... keys) {
    journal.clear();
    TestCall call = call(listening(), "a thing").as(ALICE);
    Metadata headers = new Metadata();
    for (String key : keys) {
      headers.put(IdempotencyMetadata.KEY, key);
    }
    call.headers(headers).end();
    return onlyProblem(HEADER);
  }

  private KeyProblem problemOf(Source source) {
    journal.clear();
    call(listening(thing -> thing.keyFrom(source)), "a thing").as(ALICE).end();
    return onlyProblem("a provider");
  }

  private KeyProblem onlyProblem(String source) {
    assertThat(journal.kinds()).containsExactly(Kind.KEY_INVALID, Kind.REFUSED);
    KeyEvent invalid = journal.only(Kind.KEY_INVALID, KeyEvent.class);
    assertThat(invalid.source()).isEqualTo(source);
    return invalid.problem().orElseThrow();
  }

  private KeyProblem failureOf(Supplier<RuntimeException> failure) {
    journal.clear();
    Source failing =
        call -> {
          throw failure.get();
        };
    KeySource sources = KeySource.firstOf(KeySource.metadata("another-key"), failing);
    call(listening(thing -> thing.keyFrom(sources.as(KeyFormat.opaque()))), "a thing")
        .as(ALICE)
        .end();
    KeyEvent failed = journal.only(Kind.EXTRACTION_FAILED, KeyEvent.class);
    assertThat(failed.source()).isEqualTo("a provider");
    return failed.problem().orElseThrow();
  }

  /** A source of a service's own. */
  private interface Source extends KeySource {
    @Override
    Optional<FoundKey> find(KeyCall call);

    @Override
    default String name() {
      return "a provider";
    }
  }

  /** A call's position in a trace. */
  private record Traced(String position) implements CallScope {
    @Override
    public void run(Runnable action) {
      action.run();
    }

    @Override
    public Optional<ByteString> trace() {
      return Optional.of(ByteString.copyFromUtf8(position));
    }
  }
}
