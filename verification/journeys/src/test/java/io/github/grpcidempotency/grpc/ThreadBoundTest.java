package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.MoreExecutors;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.grpc.TestCall.Started;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls whose transactions are bound to the thread that has begun them. */
@ParameterizedClass
@EnumSource(names = {"IN_PROCESS", "DIRECT_EXECUTOR"})
class ThreadBoundTest extends CallTest {
  /** Outlasts any test. */
  private static final Duration LONG = Duration.ofMinutes(1);

  /** Ends within a test. */
  private static final Duration SHORT = Duration.ofMillis(300);

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private final Context.CancellableContext over = Context.ROOT.withCancellation();
  private ThreadBoundStore bound = new ThreadBoundStore(memory);

  ThreadBoundTest(Transport transport) {
    super(transport);
  }

  @AfterEach
  void everyTransactionHasEnded() {
    clients.shutdownNow();
    await().until(() -> bound.open() == 0);
  }

  @Test
  void anAnswerIsSettledOnceTheHandlerHasReturned() {
    ThingServer server = start(transactional());

    Seen first = keyed(server).end().first();
    keyed(server).end().replays(first);

    assertThat(bound.steps()).containsExactly("begin", "returned", "commit");
    assertThat(bound.threads()).hasSize(1);
  }

  @Test
  void anAnswerOfAnotherThreadIsSettledOnTheThreadThatHasClaimed() throws InterruptedException {
    ThingServer server = start(transactional());
    server.things().keepRunning();
    CompletableFuture<Seen> first = elsewhere(keyed(server));
    ThingService.Running running = server.things().nextRunning();

    await().until(() -> bound.steps().contains("returned"));
    running.succeed();

    Seen answer = first.join().first();
    keyed(server).end().replays(answer);
    assertThat(bound.steps()).containsExactly("begin", "returned", "commit");
    assertThat(bound.threads()).hasSize(1);
    assertThat(bound.endedInContext()).isEqualTo(1);
  }

  @Test
  void anAnswerWhoseTransactionIsRolledBackIsNotSent() {
    ThingServer server =
        start(
            transactional()
                .handler(
                    (request, answer) -> {
                      CurrentOperation.setRollbackOnly();
                      ThingHandler.answer(request, answer);
                    }));

    Seen end = keyed(server).end();
    server.things().succeed();
    keyed(server).end().first();

    assertThat(end.code()).isEqualTo(Status.Code.INTERNAL);
    assertThat(end.messages()).isEmpty();
    assertThat(journal.only(Kind.SETTLEMENT_FAILED, SettlementEvent.class).thrown()).isEmpty();
  }

  @Test
  void aKnownRollbackIsNotReportedAsAnUnknownOutcome() {
    ThingServer server =
        start(
            transactional()
                .handler(
                    (request, answer) -> {
                      CurrentOperation.setRollbackOnly();
                      ThingHandler.answer(request, answer);
                    }));
    try (LogLines log = LogLines.listen()) {
      keyed(server).end();

      assertThat(log.all())
          .anyMatch(
              line -> line.contains("the transaction was rolled back, so the call has no effect"))
          .noneMatch(line -> line.contains("the outcome could not be settled"));
    }
  }

  @Test
  void aCancelledCallIsRolledBackUnlessItsAnswerComesWithinALease() throws InterruptedException {
    assumeThat(transport).isNotEqualTo(Transport.DIRECT_EXECUTOR); // its client would wait, too
    bound = new ThreadBoundStore(new InMemoryIdempotencyStore(SHORT));
    ThingServer server = start(transactional());
    CompletableFuture<ServerCallStreamObserver<Thing>> late = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              ServerCallStreamObserver<Thing> observer = (ServerCallStreamObserver<Thing>) answer;
              observer.setOnCancelHandler(() -> {});
              late.complete(observer);
            });
    Started call = keyed(server).start();
    await().until(() -> bound.steps().contains("returned"));

    call.cancel();
    await().until(() -> journal.kinds().contains(Kind.SETTLEMENT_FAILED));
    ThingHandler.answer(late.join(), Thing.getDefaultInstance());
    server.things().succeed();
    Seen retried = keyed(server).end().first();

    assertThat(retried.thing()).isNotEqualTo(Thing.getDefaultInstance());
    assertThat(bound.steps())
        .containsExactly("begin", "returned", "rollback", "begin", "returned", "commit");
    assertThat(journal.only(Kind.SETTLEMENT_FAILED, SettlementEvent.class).settlement())
        .isEqualTo(Settlement.MARK_UNKNOWN);
  }

  @Test
  void anAnswerThatComesSoonAfterItsCallIsOverCounts() throws InterruptedException {
    ThingServer server = start(transactional());
    server.things().keepRunning();
    CompletableFuture<Seen> first = elsewhere(keyed(server));
    ThingService.Running running = server.things().nextRunning();
    over.cancel(null);
    assertThat(running.context().isCancelled()).isTrue();

    running.succeed();

    Seen answer = first.join().first();
    keyed(server).end().replays(answer);
  }

  @Test
  void aThreadThatIsInterruptedWaitsNoLonger() throws InterruptedException {
    assumeThat(transport).isEqualTo(Transport.DIRECT_EXECUTOR); // the client's thread runs it
    ThingServer server = start(transactional());
    server.things().keepRunning();
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    Future<?> call =
        clients.submit(
            () -> {
              TestCall.Started unused = keyed(server).start();
              interrupted.complete(Thread.currentThread().isInterrupted());
            });
    ThingService.Running running = server.things().nextRunning();

    call.cancel(true);

    assertThat(interrupted.join()).isTrue();
    assertThat(bound.steps()).containsExactly("begin", "returned", "rollback");
    running.succeed();
    server.things().succeed();
    keyed(server).end().first();
  }

  @Test
  void aCallWithoutAKeyIsCommittedOnItsThread() throws InterruptedException {
    ThingServer server = start(transactional());
    call(server, "a thing").as(ALICE).end().untouched();
    server.things().keepRunning();
    CompletableFuture<Seen> other = elsewhere(call(server, "a thing").as(ALICE));
    server.things().nextRunning().succeed();
    other.join().untouched();

    assertThat(bound.steps())
        .containsExactly("begin", "returned", "commit", "begin", "returned", "commit");
  }

  @Test
  void aCallWithoutAKeyThatFailsIsRolledBackOnItsThread() throws InterruptedException {
    bound = new ThreadBoundStore(new InMemoryIdempotencyStore(SHORT));
    ThingServer server =
        start(
            transactional()
                .handler(
                    (request, answer) -> {
                      ThingHandler.answer(request, answer);
                      throw new IllegalStateException("on purpose");
                    }));
    assertThat(call(server, "a thing").end().code()).isEqualTo(Status.Code.UNKNOWN);
    server.things().handle((request, answer) -> answer.onError(Status.ABORTED.asException()));
    assertThat(call(server, "a thing").end().code()).isEqualTo(Status.Code.ABORTED);
    server.things().keepRunning();
    CompletableFuture<Seen> unanswered = elsewhere(call(server, "a thing"));
    ThingService.Running running = server.things().nextRunning();
    over.cancel(null);
    assertThat(unanswered.join().code()).isEqualTo(Status.Code.INTERNAL);
    running.succeed();

    assertThat(bound.steps())
        .containsExactly(
            "begin", "rollback", "begin", "returned", "rollback", "begin", "returned", "rollback");
  }

  @Test
  void onceTheFirstCallHasFailedOneDuplicateClaimsOnItsOwnThreadAndTheOthersGoOnWaiting()
      throws InterruptedException {
    ThingServer server = start(attaching());
    server.things().keepRunning();
    CompletableFuture<Seen> first = elsewhere(keyed(server));
    ThingService.Running running = server.things().nextRunning();
    List<CompletableFuture<Seen>> duplicates = attachElsewhere(server, 10);

    running.fail(Status.UNAVAILABLE);
    assertThat(first.join().code()).isEqualTo(Status.Code.UNAVAILABLE);
    server.things().nextRunning().succeed();

    List<Seen> answers = duplicates.stream().map(CompletableFuture::join).toList();
    Seen owners = answers.stream().filter(end -> !end.isReplayed()).findFirst().orElseThrow();
    answers.stream().filter(Seen::isReplayed).forEach(end -> end.replays(owners));
    assertThat(answers).filteredOn(end -> !end.isReplayed()).hasSize(1);
    assertThat(server.things().runs()).isEqualTo(2);
    assertThat(bound.steps())
        .containsExactly("begin", "returned", "rollback", "begin", "returned", "commit");
    assertThat(journal.all(Kind.ATTACHED, CallEvent.class)).hasSize(10);
    // Ten duplicates met the first call in this process; only the head of the queue claims.
    assertThat(bound.claims()).isEqualTo(2);
    assertThat(ends()).hasSize(10).containsOnlyOnce(WaitEvent.End.CLAIMED);
    assertThat(ends()).filteredOn(WaitEvent.End.ANSWERED::equals).hasSize(9);
  }

  @Test
  void aDuplicateThatWaitsAgainGivesUpAtItsFirstLimit() throws InterruptedException {
    assumeThat(transport).isEqualTo(Transport.IN_PROCESS); // once is enough: it takes its time
    ThingServer server = start(transactional(Duration.ofSeconds(5), releaseAll()));
    server.things().keepRunning();
    CompletableFuture<Seen> first = elsewhere(keyed(server));
    ThingService.Running running = server.things().nextRunning();
    List<CompletableFuture<Seen>> duplicates = attachElsewhere(server, 3);

    running.fail(Status.UNAVAILABLE);
    assertThat(first.join().code()).isEqualTo(Status.Code.UNAVAILABLE);
    ThingService.Running owner = server.things().nextRunning();
    await().until(() -> ends().size() == 3);
    owner.succeed();

    List<Seen> answers = duplicates.stream().map(CompletableFuture::join).toList();
    assertThat(answers).filteredOn(end -> end.code() == Status.Code.OK).hasSize(1);
    answers.stream()
        .filter(end -> end.code() != Status.Code.OK)
        .forEach(end -> end.refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS"));
    assertThat(ends())
        .containsExactlyInAnyOrder(
            WaitEvent.End.CLAIMED, WaitEvent.End.GAVE_UP, WaitEvent.End.GAVE_UP);
  }

  @Test
  void anUnusedTransactionAndASuspendedOneAreReportedAtTheSettlement() {
    ThingServer server = start(transactional());
    bound.passBy();
    bound.suspend();

    keyed(server).end().first();

    assertThat(journal.all(Kind.UNPROTECTED, UnprotectedEvent.class))
        .extracting(UnprotectedEvent::cause)
        .containsExactly(
            UnprotectedCause.TRANSACTION_NOT_TAKEN, UnprotectedCause.TRANSACTION_SUSPENDED);
    assertThat(journal.kinds())
        .containsExactly(
            Kind.KEY_FOUND, Kind.CLAIMED, Kind.SETTLED, Kind.UNPROTECTED, Kind.UNPROTECTED);
  }

  @Test
  void aFailedCallWhoseTransactionWasSuspendedIsReported() {
    ThingServer server = start(transactional());
    bound.suspend();
    server
        .things()
        .handle((request, answer) -> answer.onError(Status.FAILED_PRECONDITION.asException()));

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.FAILED_PRECONDITION);

    assertThat(journal.only(Kind.UNPROTECTED, UnprotectedEvent.class).cause())
        .isEqualTo(UnprotectedCause.TRANSACTION_SUSPENDED);
  }

  private static FailurePolicy releaseAll() {
    return FailurePolicy.releaseAll();
  }

  private ThingServer.Builder transactional() {
    return transactional(Duration.ZERO, releaseAll());
  }

  private ThingServer.Builder attaching() {
    return transactional(LONG, releaseAll());
  }

  private ThingServer.Builder transactional(Duration attach, FailurePolicy failures) {
    return ThingServer.on(transport)
        .store(bound)
        .createThing(
            thing -> thing.execution(Execution.TRANSACTIONAL).attach(attach).failures(failures))
        .listener(journal.listener())
        .outside(new Calls())
        .inside(AfterCallback.halfClose(this::noteTheReturn));
  }

  private CompletableFuture<Seen> elsewhere(TestCall call) {
    return CompletableFuture.supplyAsync(call::end, clients);
  }

  private List<CompletableFuture<Seen>> attachElsewhere(ThingServer server, int duplicates) {
    List<CompletableFuture<Seen>> started = new ArrayList<>();
    for (int duplicate = 0; duplicate < duplicates; duplicate++) {
      started.add(elsewhere(keyed(server)));
    }
    await().until(() -> journal.all(Kind.ATTACHED, CallEvent.class).size() == duplicates);
    return started;
  }

  private List<WaitEvent.End> ends() {
    return journal.all(Kind.WAIT_ENDED, WaitEvent.class).stream().map(WaitEvent::end).toList();
  }

  /** Every call is over once the test says so. */
  private final class Calls implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      Context.CancellableContext context = Context.current().withCancellation();
      over.addListener(ended -> context.cancel(null), MoreExecutors.directExecutor());
      return Contexts.interceptCall(context, call, headers, next);
    }
  }

  /** What a framework puts around handlers ends after them. */
  private void noteTheReturn() {
    if (CurrentOperation.hasTransaction()) {
      bound.note("returned");
    }
  }
}
