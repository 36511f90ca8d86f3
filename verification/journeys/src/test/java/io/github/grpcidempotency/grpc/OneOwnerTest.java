package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.rpc.Code;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A claim is ended on every path, whatever is thrown, and only when its handler has ended. */
class OneOwnerTest extends CallTest {
  @Test
  void aTerminalErrorThatCannotBeRecordedIsNotSentBeforeItIsRecorded() {
    ThingServer server = start(server().createThing(OneOwnerTest::recordingRefusals));
    server.things().handle(OneOwnerTest::refuse);
    store.failSettlements();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    store.recover();

    Seen recorded =
        await()
            .until(() -> keyed(server).end(), end -> end.code() == Status.Code.FAILED_PRECONDITION);
    assertThat(recorded.isReplayed()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aHandlerThatStillRunsWhenItsInterceptorIsClosedKeepsItsKey() throws InterruptedException {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server = start(server().store(shortLeases));
    ThingServer other = start(server().store(shortLeases));
    TestCall.Started call = keepOneRunning(server);

    server.closeInterceptor();
    awaitMoreThanALease(shortLeases);

    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    server.things().nextRunning().succeed();
    keyed(other).end().replays(call.end().first());
    assertThat(other.runs()).isZero();
  }

  @Test
  void aHandlerThatHasNotReturnedKeepsItsKeyAlthoughItsClientHasGone() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server = start(server().store(shortLeases));
    ThingServer other = start(server().store(shortLeases));
    CountDownLatch end = new CountDownLatch(1);
    server.things().handle((request, observer) -> answerAfter(end, observer));
    TestCall.Started call = keyed(server).start();
    await().until(() -> server.runs() == 1);
    call.cancel();

    awaitMoreThanALease(shortLeases);

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    keyed(other).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    end.countDown();
    await().until(() -> keyed(other).end().isReplayed());
    assertThat(server.runs() + other.runs()).isEqualTo(1);
  }

  @Test
  void theLateAnswerOfAHandlerThatWasGivenUpIsRecordedWhileItsAttemptHolds() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server =
        start(
            server()
                .store(shortLeases)
                .settings(builder -> builder.callLimit(SHORT_LEASE).listener(journal.listener())));
    Queue<StreamObserver<Thing>> forgotten = new ConcurrentLinkedQueue<>();
    server.things().handle((request, observer) -> forgotten.add(observer));
    TestCall.Started call = keyed(server).start();

    call.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    ThingHandler.answer(forgotten.remove(), Thing.newBuilder().setName("a thing").build());

    assertThat(keyed(server).end().isReplayed()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aHandlerThatAnswersFromAnotherThreadKeepsItsKeyWhileRetriesCome() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server = start(server().store(shortLeases));
    Queue<StreamObserver<Thing>> later = new ConcurrentLinkedQueue<>();
    server.things().handle((request, observer) -> later.add(observer));
    TestCall.Started call = keyed(server).start();
    await().until(() -> server.runs() == 1);
    call.cancel();

    int before = shortLeases.renewals();
    await()
        .until(
            () -> {
              keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
              return shortLeases.renewals() >= before + 4;
            });

    ThingHandler.answer(later.remove(), Thing.newBuilder().setName("a thing").build());
    assertThat(keyed(server).end().isReplayed()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void aProcedureChoosesHowLongAHandlerWithoutAnAnswerKeepsItsKey() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server =
        start(
            server()
                .store(shortLeases)
                .createThing(thing -> thing.unansweredLimit(Duration.ofDays(1))));
    Queue<StreamObserver<Thing>> later = new ConcurrentLinkedQueue<>();
    server.things().handle((request, observer) -> later.add(observer));
    TestCall.Started call = keyed(server).start();
    await().until(() -> server.runs() == 1);
    call.cancel();

    awaitMoreThanALease(shortLeases);

    ThingHandler.answer(later.remove(), Thing.newBuilder().setName("a thing").build());
    assertThat(keyed(server).end().isReplayed()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void withoutALimitOfCallsHandlersWithoutAnAnswerAreStillGivenUp() {
    ThingServer server =
        start(
            server()
                .store(newStore(SHORT_LEASE))
                .settings(
                    builder ->
                        builder
                            .listener(journal.listener())
                            .callLimit(ChronoUnit.FOREVER.getDuration())));
    server.things().handle((request, observer) -> {});
    List<TestCall.Started> others = new ArrayList<>();
    for (int call = 0; call < 20; call++) {
      others.add(call(server, "a thing").as(UUID.randomUUID()).key(KEY).start());
    }
    TestCall.Started cancelled = keyed(server).start();
    await().until(() -> server.runs() == 21);

    cancelled.cancel();

    await().until(() -> journal.kinds().contains(Kind.SETTLED));
    others.forEach(TestCall.Started::cancel);
  }

  @Test
  void anErrorBesideTheSettlementAnswersTheCallAndEndsItsLease() {
    UnreliableStore shortLeases = newStore(SHORT_LEASE);
    ThingServer server =
        start(
            server().store(shortLeases).settings(builder -> builder.listener(journal.listener())));
    shortLeases.throwErrorsBesideSettlements();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    shortLeases.recover();

    await().until(() -> keyed(server).end().code() == Status.Code.OK);
    assertThat(journal.live().map(LiveCounts::leasesHeld)).contains(0);
  }

  private static ProcedureBuilder<Thing> recordingRefusals(ProcedureBuilder<Thing> thing) {
    return thing.failures(FailurePolicy.releaseAll().withTerminal(Code.FAILED_PRECONDITION));
  }

  private static void refuse(CreateThingRequest request, StreamObserver<Thing> observer) {
    observer.onError(
        Status.FAILED_PRECONDITION.withDescription("no " + request.getName()).asException());
  }

  private static void answerAfter(CountDownLatch end, StreamObserver<Thing> observer) {
    try {
      end.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    ThingHandler.answer(observer, Thing.newBuilder().setName("a thing").build());
  }
}
