package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("transports")
class CancellationsTest extends CallTest {
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
    server.things().keepRunning();
    TestCall.Started call = keyed(server).start();
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
  void theAnswerToACallWhoseDeadlinePassedIsRecorded() throws InterruptedException {
    ThingServer server = start();
    server.things().keepRunning();
    TestCall.Started call = keyed(server).deadlineAfter(Duration.ofMillis(200)).start();
    ThingService.Running running = server.things().nextRunning();
    assertThat(call.end().code()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    await().until(running.context()::isCancelled);
    server.things().succeed();

    running.context().run(running::succeed);

    assertReplayedWithoutRunning(server);
    assertThat(store.settledInCancelledContext()).isZero();
  }

  @Test
  void aCancelledCallThatFailsFreesItsKey() throws InterruptedException {
    ThingServer server = start();
    server.things().keepRunning();
    TestCall.Started call = keyed(server).start();
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

  /** Such a call can never be ended; its lease must not be renewed for ever. */
  @Test
  void aHandlerThatForgetsACancelledCallFreesItsKey() {
    ThingServer server =
        start(server().store(new InMemoryIdempotencyStore(Duration.ofMillis(300))));
    server.things().handle((request, observer) -> {});
    cancelRunningCall(server);
    server.things().succeed();

    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              System.gc();
              return keyed(server).end().code() == Status.Code.OK;
            });

    assertThat(server.things().runs()).isEqualTo(2);
  }

  /** A separate method, so that this test keeps no reference to the call. */
  private static void cancelRunningCall(ThingServer server) {
    TestCall.Started call = keyed(server).start();
    await().until(() -> server.things().runs() == 1);
    call.cancel();
  }

  private static void assertReplayedWithoutRunning(ThingServer server) {
    Seen retry = keyed(server).end();

    assertThat(retry.isReplayed()).as("%s", retry.status()).isTrue();
    assertThat(retry.thing().getName()).isEqualTo("a thing");
    assertThat(server.things().runs()).isEqualTo(1);
  }
}
