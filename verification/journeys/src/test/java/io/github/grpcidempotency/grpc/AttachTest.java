package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.spi.FailurePhase.NOTHING_SENT;
import static io.github.grpcidempotency.store.FailureCause.NO_CONNECTION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import com.google.rpc.Code;
import io.github.grpcidempotency.grpc.TestCall.Started;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.ServedKey;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Duplicates that wait for the call that holds their key. */
@ParameterizedClass
@MethodSource("transports")
class AttachTest extends CallTest {
  /** Outlasts any test. */
  private static final Duration LONG = Duration.ofMinutes(1);

  private static final String OTHER_KEY = UUID.randomUUID().toString();
  private final AtomicInteger cancelled = new AtomicInteger();

  /** Where calls go on that had to wait: one after the other, so that a test can wait for all. */
  private final ExecutorService here =
      Executors.newSingleThreadExecutor(
          new ThreadFactoryBuilder().setDaemon(true).setNameFormat("of-the-server").build());

  @AfterEach
  void stopGoingOn() {
    here.shutdownNow();
  }

  AttachTest(Transport transport) {
    super(transport);
  }

  @Test
  void duplicatesAreAnsweredWithTheFirstAnswer() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    ThingServer other = start(attaching(LONG));
    Started first = keepOneRunning(server);
    List<Started> here = attach(server, 3);
    List<Started> there = attach(other, 2);

    server.things().nextRunning().succeed();

    Seen answer = first.end().first();
    here.forEach(duplicate -> duplicate.end().replays(answer));
    there.forEach(duplicate -> duplicate.end().replays(answer));
    assertThat(server.things().runs() + other.things().runs()).isEqualTo(1);
  }

  /** It would wait for its own caller. */
  @Test
  void anInnerCallWithTheKeyOfItsCallerIsRefusedAtOnce() {
    Procedure inner =
        Procedure.of(ThingServer.CREATE_OTHER).execution(Execution.RESERVED).attach(LONG).build();
    ThingServer server = start(attaching(LONG).describe(inner));
    List<Seen> seen = new CopyOnWriteArrayList<>();
    List<String> served = new CopyOnWriteArrayList<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              served.add(ServedKey.current().orElseThrow());
              seen.add(keyed(server).to(ThingServer.CREATE_OTHER).end());
              ThingHandler.answer(request, answer);
            });

    keyed(server).end().first();

    assertThat(served).containsExactly(KEY);
    seen.get(0).refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
  }

  @Test
  void ofManyDuplicatesOfAFailedCallOnlyTheFirstClaimsAndOnItsOwnThread()
      throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    Started first = keepOneRunning(server);
    List<Started> duplicates = attach(server, 20);
    int claims = store.claims();
    store.claimingThreads().clear();

    server.things().nextRunning().fail(Status.UNAVAILABLE);
    ThingService.Running next = server.things().nextRunning();

    assertThat(first.end().code()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(store.claims()).isEqualTo(claims + 1);
    assertThat(store.claimingThreads()).containsExactly("of-the-server");
    next.succeed();
    assertThat(duplicates.stream().map(Started::end).filter(Seen::isReplayed)).hasSize(19);
  }

  @Test
  void aDuplicateForWhichThereIsNoRoomIsRefusedUntilAnotherOneHasLeft()
      throws InterruptedException {
    ThingServer server = start(limited(settings -> settings.waitingCalls(3, 2)));
    Started first = keepOneRunning(server);
    Started other = ofOtherKey(server).start();
    await().until(() -> server.things().runs() == 2);
    List<Started> duplicates = attach(server, 2);
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS").retryAfter();
    Started ofOther = ofOtherKey(server).start();
    awaitAttached(4);
    ofOtherKey(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    cancel(duplicates.get(0));
    Started last = ofOtherKey(server).start();
    awaitAttached(6);
    server.things().nextRunning().succeed();
    server.things().nextRunning().succeed();

    duplicates.get(1).end().replays(first.end().first());
    Seen answer = other.end().first();
    ofOther.end().replays(answer);
    last.end().replays(answer);
  }

  @Test
  void aDuplicateWhoseRequestWouldTakeTooMuchMemoryIsRefused() throws InterruptedException {
    ThingServer server = start(limited(settings -> settings.waitingBytes(1_000, 20)));
    Started first = keepOneRunning(server);
    List<Started> duplicates = attach(server, 2); // of nine bytes each

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS").retryAfter();

    server.things().nextRunning().succeed();
    Seen answer = first.end().first();
    duplicates.forEach(duplicate -> duplicate.end().replays(answer));
  }

  @Test
  void aDuplicateWhoseDeadlinePassesWaitsNoMore() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    keepOneRunning(server);

    Seen end = keyed(server).deadlineAfter(Duration.ofMillis(300)).end();

    assertThat(end.code()).isIn(Status.Code.DEADLINE_EXCEEDED, Status.Code.ABORTED);
    ThingService.Running running = server.things().nextRunning();
    server.things().succeed();
    running.fail(Status.UNAVAILABLE);
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.OK);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aCancelledDuplicateLeavesTheQueue() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    keepOneRunning(server);
    List<Started> duplicates = attach(server, 3);
    cancel(duplicates.get(0), duplicates.get(2));
    Started last = attach(server, 1).get(0);

    server.things().nextRunning().fail(Status.UNAVAILABLE);
    server.things().nextRunning().succeed();

    List<Seen> ends = List.of(duplicates.get(1).end(), last.end());
    assertThat(ends).filteredOn(Seen::isReplayed).hasSize(1);
    assertThat(ends).filteredOn(end -> !end.isReplayed()).hasSize(1);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aDuplicateIsRefusedAtOnceIfTheFirstCallsOutcomeIsUnknown() throws InterruptedException {
    ThingServer server =
        start(attaching(LONG, FailurePolicy.releaseAll().withUnknown(Code.UNAVAILABLE)));
    keepOneRunning(server);
    List<Started> duplicates = attach(server, 2);

    server.things().nextRunning().fail(Status.UNAVAILABLE);

    for (Started duplicate : duplicates) {
      Seen end = duplicate.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_OUTCOME_UNKNOWN");
      assertThat(end.retryAfter())
          .isBetween(LEASE.minusSeconds(15), LEASE.multipliedBy(3).dividedBy(2));
    }
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aDuplicateOutlivesAnOutageOfTheStore() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    Started first = keepOneRunning(server);
    Started duplicate = attach(server, 1).get(0);
    store.failClaims(NOTHING_SENT, NO_CONNECTION);

    server.things().nextRunning().succeed();
    Seen answer = first.end().first();
    int looks = store.looks();
    await().until(() -> store.looks() > looks);
    store.recover();

    duplicate.end().replays(answer);
  }

  @Test
  void aDuplicateThatHasWaitedDoesNotRunUnprotected() throws InterruptedException {
    ThingServer server =
        start(
            attaching(LONG)
                .createThing(
                    thing ->
                        thing
                            .attach(LONG)
                            .failures(FailurePolicy.releaseAll())
                            .outage(OutagePolicy.FAIL_OPEN)));
    keepOneRunning(server);
    Started duplicate = attach(server, 1).get(0);
    store.failClaimsOnly(NOTHING_SENT, NO_CONNECTION);

    server.things().nextRunning().fail(Status.UNAVAILABLE);

    duplicate.end().refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aDuplicateRunsInTheContextOfItsOwnCall() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    keepOneRunning(server);
    Started duplicate = keyed(server).deadlineAfter(LONG).start();
    awaitAttached(1);

    server.things().nextRunning().fail(Status.UNAVAILABLE);
    ThingService.Running running = server.things().nextRunning();

    Context context = running.context();
    assertThat(ThingServer.CALLER.get(context)).isEqualTo(Caller.of(ALICE));
    assertThat(context.getDeadline()).isNotNull();
    assertThat(CurrentHandler.claim()).isEmpty();
    context.run(() -> assertThat(CurrentHandler.claim()).isPresent());
    assertThat(context.isCancelled()).isFalse();
    duplicate.cancel();
    await().until(context::isCancelled);
    running.succeed();
  }

  @Test
  void aRunningDuplicateIsNotifiedOfItsCancellationOnceItsHandlerHasReturned()
      throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    keepOneRunning(server);
    Started duplicate = attach(server, 1).get(0);
    AtomicBoolean returned = new AtomicBoolean();
    CompletableFuture<Boolean> cancelledAfterReturn = new CompletableFuture<>();
    CompletableFuture<Context> started = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              ((ServerCallStreamObserver<?>) answer)
                  .setOnCancelHandler(() -> cancelledAfterReturn.complete(returned.get()));
              Context context = Context.current();
              started.complete(context);
              await().until(context::isCancelled);
              await().during(Duration.ofMillis(100)).until(() -> !cancelledAfterReturn.isDone());
              returned.set(true);
            });

    server.things().nextRunning().fail(Status.UNAVAILABLE);
    started.join();
    duplicate.cancel();

    assertThat(cancelledAfterReturn.join()).isTrue();
  }

  @Test
  void aDuplicateWhoseHandlerThrowsIsAnsweredAndLetsTheNextOneRun() throws InterruptedException {
    ThingServer server = start(attaching(LONG));
    keepOneRunning(server);
    List<Started> duplicates = attach(server, 2);
    ThingService.Running running = server.things().nextRunning();
    AtomicBoolean thrown = new AtomicBoolean();
    server
        .things()
        .handle(
            (request, answer) -> {
              if (!thrown.getAndSet(true)) {
                throw new IllegalStateException("on purpose");
              }
              ThingHandler.answer(request, answer);
            });

    running.fail(Status.UNAVAILABLE);

    List<Seen> ends = duplicates.stream().map(Started::end).toList();
    assertThat(ends)
        .extracting(Seen::code)
        .containsExactlyInAnyOrder(Status.Code.UNKNOWN, Status.Code.OK);
  }

  @Test
  void theGuardDecidesOnceTheAnswerIsRecordedAndNotWhenTheWaitBegins() throws InterruptedException {
    AtomicBoolean allowed = new AtomicBoolean(true);
    ThingServer server =
        start(
            attaching(LONG)
                .createThing(
                    thing -> thing.attach(LONG).guard((caller, resource) -> allowed.get())));
    Started first = keepOneRunning(server);
    Started duplicate = attach(server, 1).get(0);

    allowed.set(false);
    server.things().nextRunning().succeed();

    first.end().first();
    duplicate.end().refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED").forGood();
  }

  private ThingServer.Builder limited(UnaryOperator<IdempotencyInterceptor.Builder> limits) {
    return attaching(LONG)
        .settings(settings -> limits.apply(settings.listener(journal.listener()).executor(here)));
  }

  private static TestCall ofOtherKey(ThingServer server) {
    return call(server, "a thing").as(ALICE).key(OTHER_KEY);
  }

  private ThingServer.Builder attaching(Duration limit) {
    return attaching(limit, FailurePolicy.releaseAll());
  }

  private ThingServer.Builder attaching(Duration limit, FailurePolicy failures) {
    return server()
        .createThing(thing -> thing.attach(limit).failures(failures))
        .settings(settings -> settings.listener(journal.listener()).executor(here))
        .outside(AfterCallback.cancel(() -> here.execute(cancelled::incrementAndGet)));
  }

  /** Cancels, and waits until the server has noticed it. */
  private void cancel(Started... calls) {
    int before = cancelled.get();
    for (Started call : calls) {
      call.cancel();
    }
    await().until(() -> cancelled.get() == before + calls.length);
  }
}
