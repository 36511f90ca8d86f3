package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.grpc.TestCall.Started;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.TransactionalStore;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Context;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that are claimed with their handler's first statement; with transactions that any thread
 * may end, and with those that are bound to their thread.
 */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class LateClaimTest extends CallTest {
  private static final Metadata.Key<String> RETRY = header("idempotency-retry");
  private static final Metadata.Key<String> ATTEMPTS = header("grpc-previous-rpc-attempts");
  private static final Metadata.Key<String> FOR_HANDLERS = header("for-handlers");

  private final boolean bound;
  private LateStore late;

  LateClaimTest(boolean bound) {
    this.bound = bound;
    this.late = new LateStore(memory, bound);
  }

  @AfterEach
  void everyTransactionHasEndedOnce() {
    await()
        .pollDelay(Duration.ZERO)
        .until(() -> late.open() + journal.live().map(LiveCounts::leasesHeld).orElse(0) == 0);
    assertThat(late.misuses()).isEmpty();
  }

  /** What the handler of a duplicate does once it is stopped. */
  private enum Ending {
    LETS_IT_THROUGH(
        (stopped, request, call) -> {
          throw stopped;
        }),
    ANSWERS_ALL_THE_SAME((stopped, request, call) -> ThingHandler.answer(request, call)),
    ANSWERS_AND_THEN_THROWS(
        (stopped, request, call) -> {
          ThingHandler.answer(request, call);
          throw stopped;
        }),
    ANSWERS_WITH_AN_ERROR(
        (stopped, request, call) -> call.onError(Status.FAILED_PRECONDITION.asRuntimeException())),
    ANSWERS_TWICE(
        (stopped, request, call) -> {
          call.onNext(ThingHandler.newThing(request));
          ThingHandler.answer(request, call);
        }),
    ANSWERS_ON_ANOTHER_THREAD_BEFORE_IT_RETURNS(
        (stopped, request, call) ->
            CompletableFuture.runAsync(() -> ThingHandler.answer(request, call)).join()),
    NEVER_ANSWERS((stopped, request, call) -> {});

    interface Deed {
      void after(RuntimeException stopped, CreateThingRequest request, StreamObserver<Thing> call);
    }

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    private final Deed deed;

    Ending(Deed deed) {
      this.deed = deed;
    }

    void handle(CreateThingRequest request, StreamObserver<Thing> call) {
      try {
        LateStore.write("an effect");
      } catch (LateStore.Preempted stopped) {
        deed.after(stopped, request, call);
        return;
      }
      ThingHandler.answer(request, call);
    }
  }

  @Test
  void theClaimIsReportedOnceItIsConfirmed() {
    ThingServer server = start(late());
    List<List<String>> eventsSeenByHandlers = new ArrayList<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              LateStore.write("an effect");
              eventsSeenByHandlers.add(journal.kinds());
              ThingHandler.answer(request, answer);
            });

    Seen first = keyed(server).end().first();

    assertThat(eventsSeenByHandlers).containsExactly(List.of("KeyFound"));
    assertThat(journal.kinds()).containsExactly("KeyFound", "Claimed", "ClaimSettled");
    assertThat(first.trailer(IdempotencyMetadata.OPERATION))
        .contains(journal.only(IdempotencyEvent.Claimed.class).operationId().toString());
    assertThat(late.asked()).containsExactly("later");
    assertThat(late.effects()).containsExactly("an effect");
  }

  @ParameterizedTest
  @EnumSource
  void aDuplicateIsReplayedWhateverItsHandlerDoes(Ending ending) {
    ThingServer server = start(late().handler(ending::handle));
    Seen first = keyed(server).end().first();
    journal.clear();

    keyed(server).end().replays(first);

    assertThat(late.effects()).containsExactly("an effect");
    assertThat(late.asked()).containsExactly("later", "later", "after a look");
    assertThat(journal.kinds()).containsExactly("KeyFound", "Replayed");
  }

  @Test
  void aDuplicateIsReplayedOnceItsHandlerReturnsEvenIfThatAnswersLater()
      throws InterruptedException {
    ThingServer server = start(late());
    Seen first = keyed(server).end().first();
    server.things().keepRunning();

    keyed(server).end().replays(first);
    server.things().nextRunning().succeed();

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(late.effects()).containsExactly("an effect");
  }

  @Test
  void anAnswerThatAnotherThreadSendsWhileTheHandlerRunsIsKeptUntilItReturns()
      throws InterruptedException {
    ThingServer server = start(late());
    CountDownLatch mayWrite = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    server
        .things()
        .handle(
            (request, answer) -> {
              CompletableFuture<Void> unused =
                  CompletableFuture.runAsync(() -> ThingHandler.answer(request, answer))
                      .thenRun(answered::countDown);
              hold(mayWrite);
              LateStore.write("an effect");
            });

    Started call = keyed(server).start();
    answered.await();
    assertThat(late.effects()).isEmpty();
    mayWrite.countDown();

    call.end().first();
    assertThat(late.effects()).containsExactly("an effect");
  }

  @Test
  void aHandlerThatHasReturnedKeepsItsKeyUntilAnotherThreadAnswers() throws InterruptedException {
    ThingServer server = start(late());
    CompletableFuture<Runnable> later = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              LateStore.write("an effect");
              later.complete(() -> ThingHandler.answer(request, answer));
            });

    Started call = keyed(server).start();
    Runnable answer = later.join();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    answer.run();

    call.end().first();
    assertThat(late.effects()).containsExactly("an effect");
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aHandlerThatWritesNothingIsClaimedAtItsEnd() {
    ThingServer server = start(late().handler(ThingHandler::answer));

    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(journal.kinds())
        .containsExactly(
            "KeyFound", "Claimed", "ClaimSettled", "Unprotected", "KeyFound", "Replayed");
    assertThat(journal.only(IdempotencyEvent.Unprotected.class).cause())
        .isEqualTo(UnprotectedCause.TRANSACTION_NOT_TAKEN);
  }

  @Test
  void anErrorBeforeAnyStatementIsNotReportedAsUnprotected() {
    for (Status error : List.of(Status.UNAVAILABLE, Status.INTERNAL, Status.UNKNOWN)) {
      journal.clear();
      ThingServer server =
          start(late().handler((request, answer) -> answer.onError(error.asRuntimeException())));

      assertThat(keyed(server).end().code()).isEqualTo(error.getCode());

      assertThat(journal.all(IdempotencyEvent.Unprotected.class)).isEmpty();
    }
  }

  @Test
  void aFailureIsSettledAsUsual() {
    ThingServer server =
        start(
            late()
                .handler(
                    (request, answer) -> {
                      LateStore.write("an effect");
                      throw Status.UNAVAILABLE.asRuntimeException();
                    }));
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);
    server
        .things()
        .handle(
            (request, answer) -> {
              LateStore.writeInVain();
            });
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);
    server.things().handle((request, answer) -> answer.onError(Status.ABORTED.asException()));
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.ABORTED);

    server.things().handle(LateClaimTest::write);
    keyed(server).end().first();

    assertThat(late.effects()).containsExactly("an effect");
    assertThat(journal.all(IdempotencyEvent.ClaimSettled.class))
        .extracting(IdempotencyEvent.ClaimSettled::settlement)
        .containsExactly(
            Settlement.RELEASE, Settlement.RELEASE, Settlement.RELEASE, Settlement.COMPLETE);
    assertThat(journal.all(IdempotencyEvent.Claimed.class)).hasSize(4);
  }

  @Test
  void aHandlerThatSendsTwoMessagesHasFailed() {
    ThingServer server =
        start(
            late()
                .handler(
                    (request, answer) -> {
                      LateStore.write("an effect");
                      answer.onNext(ThingHandler.newThing(request));
                      ThingHandler.answer(request, answer);
                    }));

    assertThat(keyed(server).end().code()).isNotEqualTo(Status.Code.OK);
    await().until(() -> journal.kinds().contains("ClaimSettled"));
    server.things().handle(LateClaimTest::write);
    keyed(server).end().first();

    assertThat(late.effects()).containsExactly("an effect");
  }

  @Test
  void aHandlerThatAnswersAndThenThrowsHasFailed() {
    Thrown thrown = new Thrown();
    ThingServer server =
        start(
            late()
                .outside(thrown)
                .handler(
                    (request, answer) -> {
                      write(request, answer);
                      throw new IllegalStateException("on purpose");
                    }));

    Seen end = keyed(server).end();

    assertThat(end.code()).isEqualTo(Status.Code.UNKNOWN);
    assertThat(late.effects()).isEmpty();
    assertThat(journal.only(IdempotencyEvent.ClaimSettled.class).settlement())
        .isEqualTo(Settlement.RELEASE);
    await().until(() -> thrown.seen.size() == 1);
    assertThat(thrown.seen.get(0)).hasMessage("on purpose");
  }

  /** Sees what gRPC would log. */
  private static final class Thrown implements ServerInterceptor {
    private final List<Throwable> seen = new CopyOnWriteArrayList<>();

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return new SimpleForwardingServerCallListener<Q>(next.startCall(call, headers)) {
        @Override
        public void onHalfClose() {
          try {
            super.onHalfClose();
          } catch (RuntimeException reached) {
            seen.add(reached);
            throw reached;
          }
        }
      };
    }
  }

  /** As when its server stops: its answer is not waited for any longer. */
  @Test
  void aDuplicateWhoseThreadIsInterruptedBeforeItAnswersIsReplayed() {
    assumeThat(bound).isTrue(); // only then an answer is waited for
    ThingServer server = start(late());
    Seen first = keyed(server).end().first();
    journal.clear();
    server.things().handle((request, answer) -> Thread.currentThread().interrupt());

    keyed(server).end().replays(first);

    assertThat(journal.kinds()).containsExactly("KeyFound", "Replayed");
  }

  @Test
  void aDuplicateOfARunningCallIsRefusedAndItsHandlerIsNotRun() throws InterruptedException {
    ThingServer server = start(late());
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started first = keyed(server).start();
    written.await();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    mayEnd.countDown();
    first.end().first();
    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(late.asked()).containsExactly("later");
  }

  /** Its process knows of it, but nobody knows yet whether the key is free. */
  @Test
  void aDuplicateOfACallThatHasNotWrittenYetOvertakesIt() throws InterruptedException {
    ThingServer server = start(late(Duration.ofMinutes(1)));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayWrite = new CountDownLatch(1);
    server
        .things()
        .handle(
            (request, answer) -> {
              begun.countDown();
              hold(mayWrite);
              write(request, answer);
            });
    Started first = keyed(server).start();
    begun.await();
    server.things().handle(LateClaimTest::write);

    Seen overtaking = keyed(server).end().first();
    mayWrite.countDown();

    first.end().replays(overtaking);
    assertThat(late.effects()).containsExactly("an effect");
    assertThat(late.asked()).containsExactly("later", "at once", "after a look");
  }

  @Test
  void aCallThatFindsARunningOneAtItsFirstStatementWaitsForIt() throws InterruptedException {
    LateStore others = late;
    ThingServer other = start(late());
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    other.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    late = new LateStore(memory, bound);
    ThingServer server = start(late(Duration.ofMinutes(1)));
    Started first = keyed(other).start();
    written.await();

    Started duplicate = keyed(server).start();
    await().until(() -> journal.kinds().contains("Attached"));
    mayEnd.countDown();

    duplicate.end().replays(first.end().first());
    assertThat(others.effects()).containsExactly("an effect");
    assertThat(late.effects()).isEmpty();
  }

  @Test
  void ofManyCallsAtOnceOneCounts() {
    ThingServer server = start(late(Duration.ofMinutes(1)));
    List<Started> calls = new ArrayList<>();
    for (int call = 0; call < 64; call++) {
      calls.add(keyed(server).start());
    }

    List<Seen> answers = calls.stream().map(Started::end).toList();

    Seen first = answers.stream().filter(seen -> !seen.isReplayed()).findFirst().orElseThrow();
    assertThat(answers).filteredOn(seen -> !seen.isReplayed()).hasSize(1);
    answers.stream().filter(Seen::isReplayed).forEach(seen -> seen.replays(first));
    assertThat(late.effects()).containsExactly("an effect");
    assertThat(journal.all(IdempotencyEvent.Claimed.class)).hasSize(1);
  }

  @Test
  void aCallWithAHintThatItIsARetryIsClaimedBeforeItsHandler() {
    ThingServer server = start(late());
    Seen first = keyed(server).end().first();

    keyed(server).header(RETRY, "true").end().replays(first);
    keyed(server).header(ATTEMPTS, "1").end().replays(first);

    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(late.asked()).containsExactly("later", "after a look", "after a look");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "1.5", "99999999999"})
  void aMalformedHintIsNone(String hint) {
    ThingServer server = start(late());

    keyed(server).header(ATTEMPTS, hint).header(RETRY, hint + "!").end().first();

    assertThat(late.asked()).containsExactly("later");
  }

  @Test
  void aCallThatIsCutOffAtItsFirstStatementIsRunAgain() {
    List<String> seenByHandlers = new ArrayList<>();
    ThingServer server =
        start(
            late()
                .inside(
                    new ServerInterceptor() {
                      @Override
                      public <Q, A> ServerCall.Listener<Q> interceptCall(
                          ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        seenByHandlers.add(String.valueOf(headers.get(FOR_HANDLERS)));
                        headers.removeAll(FOR_HANDLERS);
                        return next.startCall(call, headers);
                      }
                    }));
    late.cutOff();

    keyed(server).header(FOR_HANDLERS, "as it came").end().first();

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(seenByHandlers).containsExactly("as it came", "as it came");
    assertThat(late.effects()).containsExactly("an effect");
    assertThat(late.asked()).containsExactly("later", "after a look");
    assertThat(journal.kinds()).containsExactly("KeyFound", "Claimed", "ClaimSettled");
  }

  @Test
  void aHandlerThatIsRunAgainMayFail() {
    ThingServer server = start(late());
    late.cutOff();
    server
        .things()
        .handle(
            (request, answer) -> {
              LateStore.write("an effect");
              throw new IllegalStateException("on purpose");
            });

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(journal.kinds()).containsExactly("KeyFound", "Claimed", "ClaimSettled");
  }

  @Test
  void aHandlerWhoseCallWasPreemptedIsNotifiedOfTheEndOfItsCall() {
    ThingServer server = start(late());
    CompletableFuture<ServerCallStreamObserver<Thing>> notified = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              ServerCallStreamObserver<Thing> call = (ServerCallStreamObserver<Thing>) answer;
              call.setOnCancelHandler(() -> notified.complete(call));
              server.things().handle(LateClaimTest::write);
              LateStore.write("an effect");
            });
    late.cutOff();

    Seen first = keyed(server).end().first();

    await().until(notified::isDone);
    ServerCallStreamObserver<Thing> call = notified.join();
    assertThat(call.isCancelled()).isTrue();
    assertThatCode(() -> ThingHandler.answer(call, Thing.getDefaultInstance()))
        .doesNotThrowAnyException();
    keyed(server).end().replays(first);
  }

  @Test
  void aCallThatItsClientHasCancelledIsNotClaimedAnew() throws InterruptedException {
    ThingServer server = start(late());
    keyed(server).end().first();
    CompletableFuture<Context> running = new CompletableFuture<>();
    CountDownLatch mayEnd = new CountDownLatch(1);
    server
        .things()
        .handle(
            (request, answer) -> {
              running.complete(Context.current());
              hold(mayEnd);
              answer.onError(Status.CANCELLED.asException());
            });
    Started duplicate = keyed(server).start();
    Context handlers = running.join();

    duplicate.cancel();
    await().until(handlers::isCancelled);
    mayEnd.countDown();
    await().until(() -> late.open() == 0);

    assertThat(late.asked()).containsExactly("later", "later");
    assertThat(late.effects()).containsExactly("an effect");
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aClaimThatCannotBeConfirmedRefusesTheCall() {
    ThingServer server = start(late());
    late.breakDown();

    keyed(server).end().refused(Status.Code.UNAVAILABLE, "IDEMPOTENCY_STORE_UNAVAILABLE");

    assertThat(late.effects()).isEmpty();
    assertThat(journal.kinds()).containsExactly("KeyFound", "Refused");
  }

  @Test
  void aStoreThatCannotClaimLateIsRefusedIfAProcedureClaimsLate() {
    ThreadBoundStore unable = new ThreadBoundStore(memory);

    assertThatExceptionOfType(SetupException.class)
        .isThrownBy(() -> on(unable, ClaimTiming.WITH_FIRST_STATEMENT).start())
        .withMessageContaining(
            "ThreadBoundStore cannot claim with a handler's first statement:"
                + " set ClaimTiming.BEFORE_HANDLER");
    start(on(unable, ClaimTiming.BEFORE_HANDLER));
  }

  private ThingServer.Builder on(TransactionalStore store, ClaimTiming timing) {
    return ThingServer.on(transport)
        .store(store)
        .createThing(thing -> thing.execution(Execution.TRANSACTIONAL).claim(timing));
  }

  @Test
  void aHandlerThatDoesNotAnswerACancelledCallIsRolledBack() {
    late = new LateStore(new InMemoryIdempotencyStore(Duration.ofMillis(300)), bound);
    ThingServer server = start(late());
    Queue<StreamObserver<Thing>> forgotten = new ConcurrentLinkedQueue<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              LateStore.write("an effect");
              forgotten.add(answer);
            });
    Started call = keyed(server).start();
    await().until(() -> forgotten.size() == 1);
    call.cancel();

    await().until(() -> journal.kinds().contains("SettlementFailed"));

    assertThat(journal.only(IdempotencyEvent.SettlementFailed.class).settlement())
        .isEqualTo(Settlement.MARK_UNKNOWN);
    assertThat(journal.kinds()).contains("Claimed");
    ThingHandler.answer(forgotten.remove(), Thing.getDefaultInstance());
    server.things().handle(LateClaimTest::write);
    keyed(server).end().first();
    assertThat(late.effects()).containsExactly("an effect");
  }

  @Test
  void aCallThatIsGivenUpWhileItsHandlerRunsIsNotStartedOver() {
    assumeThat(bound).isFalse(); // a thread that is bound settles once its handler has returned
    late = new LateStore(new InMemoryIdempotencyStore(Duration.ofMillis(300)), false);
    ThingServer server =
        start(
            late()
                .settings(
                    ofCalls ->
                        ofCalls.callLimit(Duration.ofMillis(300)).listener(journal.listener())));
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started call = keyed(server).start();
    hold(written);
    call.cancel();

    await().until(() -> journal.kinds().contains("SettlementFailed"));
    mayEnd.countDown();

    server.things().handle(LateClaimTest::write);
    keyed(server).end().first();
    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(late.effects()).containsExactly("an effect");
  }

  private static void write(CreateThingRequest request, StreamObserver<Thing> answer) {
    LateStore.write("an effect");
    ThingHandler.answer(request, answer);
  }

  private static void writeSlowly(
      CreateThingRequest request,
      StreamObserver<Thing> answer,
      CountDownLatch written,
      CountDownLatch mayEnd) {
    LateStore.write("an effect");
    written.countDown();
    hold(mayEnd);
    ThingHandler.answer(request, answer);
  }

  private static void hold(CountDownLatch latch) {
    Uninterruptibles.awaitUninterruptibly(latch);
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private ThingServer.Builder late() {
    return late(Duration.ZERO);
  }

  private ThingServer.Builder late(Duration attach) {
    return ThingServer.on(transport)
        .store(late)
        .createThing(
            thing ->
                thing
                    .execution(Execution.TRANSACTIONAL)
                    .claim(ClaimTiming.WITH_FIRST_STATEMENT)
                    .attach(attach))
        .handler(LateClaimTest::write)
        .settings(builder -> builder.listener(journal.listener()));
  }
}
