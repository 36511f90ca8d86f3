package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.grpc.TestCall.Started;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Context;
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
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls that are claimed at their commit; with transactions that any thread may end, and with those
 * that are bound to their thread.
 */
@ParameterizedClass
@ValueSource(booleans = {false, true})
class ClaimAtCommitTest extends CallTest {
  private static final Metadata.Key<String> RETRY = header("idempotency-retry");
  private static final Metadata.Key<String> ATTEMPTS = header("grpc-previous-rpc-attempts");
  private static final Metadata.Key<String> FOR_HANDLERS = header("for-handlers");

  private final boolean bound;
  private CommitStore commits;

  ClaimAtCommitTest(boolean bound) {
    this.bound = bound;
    this.commits = new CommitStore(memory, bound);
  }

  @AfterEach
  void everyTransactionHasEndedOnce() {
    await()
        .pollDelay(Duration.ZERO)
        .until(() -> commits.open() + journal.live().map(LiveCounts::leasesHeld).orElse(0) == 0);
    assertThat(commits.misuses()).isEmpty();
  }

  /** What the handler of a duplicate does after its statement. */
  private enum Ending {
    ANSWERS(ThingHandler::answer),
    THROWS(
        (request, call) -> {
          throw new IllegalStateException("on purpose");
        }),
    ANSWERS_AND_THEN_THROWS(
        (request, call) -> {
          ThingHandler.answer(request, call);
          throw new IllegalStateException("on purpose");
        }),
    ANSWERS_WITH_AN_ERROR(
        (request, call) -> call.onError(Status.ALREADY_EXISTS.asRuntimeException())),
    ANSWERS_TWICE(
        (request, call) -> {
          call.onNext(ThingHandler.newThing(request));
          ThingHandler.answer(request, call);
        }),
    ANSWERS_ON_ANOTHER_THREAD_BEFORE_IT_RETURNS(
        (request, call) ->
            CompletableFuture.runAsync(() -> ThingHandler.answer(request, call)).join()),
    ANSWERS_ON_ANOTHER_THREAD_LATER(
        (request, call) ->
            CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS)
                .execute(() -> ThingHandler.answer(request, call)));

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    private final BiConsumer<CreateThingRequest, StreamObserver<Thing>> deed;

    Ending(BiConsumer<CreateThingRequest, StreamObserver<Thing>> deed) {
      this.deed = deed;
    }

    void handle(CreateThingRequest request, StreamObserver<Thing> call) {
      CommitStore.write("an effect");
      deed.accept(request, call);
    }
  }

  @Test
  void theClaimIsReportedWhenItIsCommitted() {
    ThingServer server = start(atCommit());
    List<List<Kind>> eventsSeenByHandlers = new ArrayList<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              CommitStore.write("an effect");
              eventsSeenByHandlers.add(journal.kinds());
              ThingHandler.answer(request, answer);
            });

    Seen first = keyed(server).end().first();

    assertThat(eventsSeenByHandlers).containsExactly(List.of(Kind.KEY_FOUND));
    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED);
    assertThat(first.trailer(IdempotencyMetadata.OPERATION))
        .contains(
            journal.only(Kind.CLAIMED, ClaimEvent.class).operationId().orElseThrow().toString());
    assertThat(commits.asked()).containsExactly("at commit");
    assertThat(commits.effects()).containsExactly("an effect");
  }

  @ParameterizedTest
  @EnumSource
  void aDuplicateIsReplayedWhateverItsHandlerDoes(Ending ending) {
    ThingServer server = start(atCommit());
    Seen first = keyed(server).end().first();
    journal.clear();
    server.things().handle(ending::handle);

    keyed(server).end().replays(first);

    assertThat(commits.effects()).containsExactly("an effect");
    assertThat(commits.asked()).containsExactly("at commit", "at commit", "after a look");
    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.REPLAYED);
  }

  @Test
  void aFailureIsSettledAsUsual() {
    ThingServer server =
        start(
            atCommit()
                .handler(
                    (request, answer) -> {
                      CommitStore.write("an effect");
                      throw Status.UNAVAILABLE.asRuntimeException();
                    }));
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);
    server
        .things()
        .handle(
            (request, answer) -> {
              throw new IllegalStateException("the statement has failed");
            });
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);
    server.things().handle((request, answer) -> answer.onError(Status.ABORTED.asException()));
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.ABORTED);

    server.things().handle(ClaimAtCommitTest::write);
    keyed(server).end().first();

    assertThat(commits.effects()).containsExactly("an effect");
    assertThat(journal.all(Kind.SETTLED, SettlementEvent.class))
        .extracting(SettlementEvent::settlement)
        .containsExactly(
            Settlement.RELEASE, Settlement.RELEASE, Settlement.RELEASE, Settlement.COMPLETE);
    assertThat(journal.all(Kind.CLAIMED, ClaimEvent.class)).hasSize(4);
  }

  @Test
  void aDuplicateOfARunningCallIsRefusedAndItsHandlerIsNotRun() throws InterruptedException {
    ThingServer server = start(atCommit());
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started first = keyed(server).start();
    written.await();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    mayEnd.countDown();
    first.end().first();
    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(commits.asked()).containsExactly("at commit");
  }

  /** Their servers do not know of each other before their commits. */
  @Test
  void aCallWithWhichAnotherServerWasQuickerIsReplayed() throws InterruptedException {
    ThingServer server = start(atCommit());
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started slow = keyed(server).start();
    written.await();
    CommitStore others = new CommitStore(memory, bound);
    CommitStore own = commits;
    commits = others;
    ThingServer other = start(atCommit());

    Seen quick = keyed(other).end().first();
    mayEnd.countDown();

    slow.end().replays(quick);
    assertThat(others.effects()).containsExactly("an effect");
    assertThat(own.effects()).isEmpty();
    assertThat(own.asked()).containsExactly("at commit", "after a look");
    assertThat(own.open() + own.misuses().size()).isZero();
  }

  /** The record may belong to another request than the call that runs here. */
  @Test
  void aDuplicateOfARunningCallIsNotComparedWithItsRequest() throws InterruptedException {
    ThingServer server = start(atCommit(Duration.ofMinutes(1)));
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started first = keyed(server).start();
    written.await();
    Started reused = call(server, "something else").as(ALICE).key(KEY).start();
    await().until(() -> journal.kinds().contains(Kind.ATTACHED));
    mayEnd.countDown();

    first.end().first();
    reused.end().refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
  }

  /** Two threads of one call must not run its handlers at the same time. */
  @Test
  void theSecondRunBeginsWhenTheFirstHasReturned() throws InterruptedException {
    ThingServer server = start(atCommit());
    Seen first = keyed(server).end().first();
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch mayReturn = new CountDownLatch(1);
    commits.cutOff();
    server
        .things()
        .handle(
            (request, answer) -> {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              CommitStore.write("another effect");
              CompletableFuture<Void> answering =
                  CompletableFuture.runAsync(() -> ThingHandler.answer(request, answer));
              if (!bound) {
                answering.join();
              }
              hold(mayReturn);
              running.decrementAndGet();
            });
    Started call =
        call(server, "another thing").as(ALICE).key(UUID.randomUUID().toString()).start();
    await().until(() -> running.get() == 1);
    mayReturn.countDown();

    call.end().first();
    assertThat(most).hasValue(1);
    assertThat(commits.effects()).containsExactly("an effect", "another effect");
    assertThat(first.isReplayed()).isFalse();
  }

  @Test
  void ofManyCallsAtOnceOneCounts() {
    ThingServer server = start(atCommit(Duration.ofMinutes(1)));
    List<Started> calls = new ArrayList<>();
    for (int call = 0; call < 64; call++) {
      calls.add(keyed(server).start());
    }

    List<Seen> answers = calls.stream().map(Started::end).toList();

    Seen first = answers.stream().filter(seen -> !seen.isReplayed()).findFirst().orElseThrow();
    assertThat(answers).filteredOn(seen -> !seen.isReplayed()).hasSize(1);
    answers.stream().filter(Seen::isReplayed).forEach(seen -> seen.replays(first));
    assertThat(commits.effects()).containsExactly("an effect");
    assertThat(journal.all(Kind.CLAIMED, ClaimEvent.class)).hasSize(1);
  }

  @Test
  void aCallWithAHintThatItIsARetryIsClaimedBeforeItsHandler() {
    ThingServer server = start(atCommit());
    Seen first = keyed(server).end().first();

    keyed(server).header(RETRY, "true").end().replays(first);
    keyed(server).header(ATTEMPTS, "1").end().replays(first);

    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(commits.asked()).containsExactly("at commit", "after a look", "after a look");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "1.5", "99999999999"})
  void aMalformedHintIsNone(String hint) {
    ThingServer server = start(atCommit());

    keyed(server).header(ATTEMPTS, hint).header(RETRY, hint + "!").end().first();

    assertThat(commits.asked()).containsExactly("at commit");
  }

  @Test
  void aPreemptedCallIsRunAgainIfTheKeyIsFree() {
    List<String> seenByHandlers = new ArrayList<>();
    ThingServer server =
        start(
            atCommit()
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
    commits.cutOff();

    keyed(server).header(FOR_HANDLERS, "as it came").end().first();

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(seenByHandlers).containsExactly("as it came", "as it came");
    assertThat(commits.effects()).containsExactly("an effect");
    assertThat(commits.asked()).containsExactly("at commit", "after a look");
    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED);
  }

  /** The handler may have failed because of another call's effect. */
  @Test
  void anErrorIsNotAnsweredIfItsClaimCannotBeReleased() {
    ThingServer server = start(atCommit());
    Seen first = keyed(server).end().first();
    server.things().handle(Ending.ANSWERS_WITH_AN_ERROR::handle);
    commits.throwFromRelease();

    keyed(server).end().replays(first);

    assertThat(commits.asked()).containsExactly("at commit", "at commit", "after a look");
    assertThat(commits.effects()).containsExactly("an effect");
  }

  @Test
  void aHandlerThatIsRunAgainMayFail() {
    ThingServer server = start(atCommit());
    commits.cutOff();
    server
        .things()
        .handle(
            (request, answer) -> {
              CommitStore.write("an effect");
              throw new IllegalStateException("on purpose");
            });

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNKNOWN);

    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(journal.kinds()).containsExactly(Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED);
  }

  @Test
  void aHandlerWhoseCallWasPreemptedIsNotifiedOfTheEndOfItsCall() {
    ThingServer server = start(atCommit());
    CompletableFuture<ServerCallStreamObserver<Thing>> notified = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              ServerCallStreamObserver<Thing> call = (ServerCallStreamObserver<Thing>) answer;
              call.setOnCancelHandler(() -> notified.complete(call));
              server.things().handle(ClaimAtCommitTest::write);
              CommitStore.write("an effect");
              throw new IllegalStateException("on purpose");
            });
    commits.cutOff();

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
    ThingServer server = start(atCommit());
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
    await().until(() -> commits.open() == 0);

    assertThat(commits.asked()).containsExactly("at commit", "at commit");
    assertThat(commits.effects()).containsExactly("an effect");
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aHandlerThatDoesNotAnswerACancelledCallIsRolledBack() {
    commits = new CommitStore(new InMemoryIdempotencyStore(Duration.ofMillis(300)), bound);
    ThingServer server = start(atCommit());
    Queue<StreamObserver<Thing>> forgotten = new ConcurrentLinkedQueue<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              CommitStore.write("an effect");
              forgotten.add(answer);
            });
    Started call = keyed(server).start();
    await().until(() -> forgotten.size() == 1);
    call.cancel();

    await().until(() -> journal.kinds().contains(Kind.SETTLEMENT_FAILED));

    assertThat(journal.only(Kind.SETTLEMENT_FAILED, SettlementEvent.class).settlement())
        .isEqualTo(Settlement.MARK_UNKNOWN);
    ThingHandler.answer(forgotten.remove(), Thing.getDefaultInstance());
    server.things().handle(ClaimAtCommitTest::write);
    keyed(server).end().first();
    assertThat(commits.effects()).containsExactly("an effect");
  }

  @Test
  void aCallThatIsGivenUpWhileItsHandlerRunsIsNotStartedOver() {
    assumeThat(bound).isFalse(); // a thread that is bound settles once its handler has returned
    commits = new CommitStore(new InMemoryIdempotencyStore(Duration.ofMillis(300)), false);
    ThingServer server =
        start(
            atCommit()
                .settings(
                    ofCalls ->
                        ofCalls.callLimit(Duration.ofMillis(300)).listener(journal.listener())));
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    server.things().handle((request, answer) -> writeSlowly(request, answer, written, mayEnd));
    Started call = keyed(server).start();
    hold(written);
    call.cancel();

    await().until(() -> journal.kinds().contains(Kind.SETTLEMENT_FAILED));
    mayEnd.countDown();

    server.things().handle(ClaimAtCommitTest::write);
    keyed(server).end().first();
    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(commits.effects()).containsExactly("an effect");
  }

  private static void write(CreateThingRequest request, StreamObserver<Thing> answer) {
    CommitStore.write("an effect");
    ThingHandler.answer(request, answer);
  }

  private static void writeSlowly(
      CreateThingRequest request,
      StreamObserver<Thing> answer,
      CountDownLatch written,
      CountDownLatch mayEnd) {
    CommitStore.write("an effect");
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

  private ThingServer.Builder atCommit() {
    return atCommit(Duration.ZERO);
  }

  private ThingServer.Builder atCommit(Duration attach) {
    return ThingServer.on(transport)
        .store(commits)
        .createThing(
            thing -> thing.execution(Execution.TRANSACTIONAL).claimAtCommit().attach(attach))
        .handler(ClaimAtCommitTest::write)
        .settings(builder -> builder.listener(journal.listener()));
  }
}
