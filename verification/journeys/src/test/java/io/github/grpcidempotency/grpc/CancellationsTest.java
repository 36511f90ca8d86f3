package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("transports")
class CancellationsTest extends CallTest {
  private static final Duration SHORT = Duration.ofMillis(300);

  CancellationsTest(Transport transport) {
    super(transport);
  }

  @Test
  void theHandlerRunsInTheContextOfItsCall() throws InterruptedException {
    ThingServer server = start();
    server.things().keepRunning();
    TestCall.Started call = keyed(server).deadlineAfter(Duration.ofMinutes(1)).start();

    Context context = server.things().nextRunning().context();

    assertThat(ThingServer.CALLER.get(context)).isEqualTo(Caller.of(ALICE));
    Deadline deadline = context.getDeadline();
    assertThat(deadline).isNotNull();
    assertThat(deadline.timeRemaining(TimeUnit.SECONDS)).isBetween(30L, 60L);
    assertThat(context.isCancelled()).isFalse();
    call.cancel();
    await().until(context::isCancelled);
  }

  @Test
  void theAnswerToACancelledCallIsRecorded() throws InterruptedException {
    ThingServer server = start();
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    call.cancel();
    await().until(running.context()::isCancelled);
    server.things().succeed();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    running.context().run(running::succeed);

    assertReplayedWithoutRunning(server);
    assertThat(store.settledInCancelledContext()).isZero();
  }

  @Test
  void aCancelledCallThatFailsFreesItsKey() throws InterruptedException {
    ThingServer server = start();
    TestCall.Started call = keepOneRunning(server);
    ThingService.Running running = server.things().nextRunning();
    call.cancel();
    await().until(running.context()::isCancelled);
    server.things().succeed();

    running.context().run(() -> running.fail(Status.CANCELLED));

    keyed(server).end().first();
    assertThat(store.settledInCancelledContext()).isZero();
  }

  @Test
  void aCallThatIsCancelledBeforeItIsCompleteClaimsNothing() throws InterruptedException {
    ThingServer server = start();
    TestCall.Started open = keyed(server).open();

    open.cancel();

    assertThat(open.end().code()).isEqualTo(Status.Code.CANCELLED);
    keyed(server).end().first();
    assertThat(store.claims()).isEqualTo(1);
    assertThat(server.things().runs()).isEqualTo(1);
  }

  /** The handler keeps the call, as a future does that nobody completes. */
  @Test
  void aReservedCallThatIsNotAnsweredALeaseAfterItsCancellationIsGivenUp() {
    ThingServer server = start(server().store(newStore(SHORT)).listener(journal.listener()));
    Queue<StreamObserver<Thing>> forgotten = new ConcurrentLinkedQueue<>();
    server.things().handle((request, observer) -> forgotten.add(observer));
    TestCall.Started call = keyed(server).start();
    await().until(() -> server.things().runs() == 1);
    call.cancel();
    server.things().succeed();
    await().until(() -> journal.kinds().contains(Kind.SETTLED));

    Seen retried =
        await().until(() -> keyed(server).end(), end -> end.code() == Status.Code.OK).first();

    ThingHandler.answer(forgotten.remove(), Thing.getDefaultInstance());
    keyed(server).end().replays(retried);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aCallWithADeadlineMayRunForLongerThanTheLimit() throws InterruptedException {
    ThingServer server =
        start(
            server()
                .store(newStore(SHORT))
                .settings(builder -> builder.callLimit(Duration.ofMillis(1))));
    TestCall.Started unlimited = keepOneRunning(server);
    ThingService.Running first = server.things().nextRunning();
    TestCall.Started call =
        call(server, "a thing")
            .as(ALICE)
            .key("0e7c9f3e-0000-4000-8000-000000000002")
            .deadlineAfter(Duration.ofMinutes(1))
            .start();
    ThingService.Running running = server.things().nextRunning();

    unlimited.end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    first.succeed();
    running.succeed();

    call.end().first();
  }

  private static void assertReplayedWithoutRunning(ThingServer server) {
    Seen retry = keyed(server).end();

    assertThat(retry.isReplayed()).as("%s", retry.status()).isTrue();
    assertThat(retry.thing().getName()).isEqualTo("a thing");
    assertThat(server.things().runs()).isEqualTo(1);
  }
}
