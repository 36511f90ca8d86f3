package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Duplicates that wait for the call that holds their key. */
@ParameterizedClass
@EnumSource(Transport.class)
class WaitingTest extends CallTest {
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();

  WaitingTest(Transport transport) {
    super(transport);
  }

  @Test
  void aDuplicateGetsTheAnswerOnceItIsThere() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    ThingServer other = patient(Duration.ofMinutes(1));
    server.things().keepRunning();
    TestCall.Started first = keyed(server).start();
    ThingService.Running running = server.things().nextRunning();
    TestCall.Started here = keyed(server).start();
    TestCall.Started there = keyed(other).start();
    awaitWaiting(2);
    assertThat(here.seen()).isNotDone();
    assertThat(there.seen()).isNotDone();

    running.succeed();

    here.end().replays(first.end().first());
    there.end().replays(first.end());
    assertThat(server.things().runs() + other.things().runs()).isEqualTo(1);
  }

  @Test
  void anotherRequestDoesNotWait() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    server.things().keepRunning();
    TestCall.Started first = keyed(server).start();
    ThingService.Running running = server.things().nextRunning();

    call(server, "another thing")
        .as(ALICE)
        .key(KEY)
        .end()
        .refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");
    running.succeed();
    first.end().first();
  }

  @Test
  void aDuplicateWaitsNoLongerThanItsLimit() throws InterruptedException {
    ThingServer server = patient(Duration.ofMillis(200));
    server.things().keepRunning();
    TestCall.Started first = keyed(server).start();
    ThingService.Running running = server.things().nextRunning();

    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");

    assertThat(waiting).hasValue(1);
    running.succeed();
    first.end().first();
  }

  @Test
  void ofTheDuplicatesOfAFailedCallOneRunsAndTheOthersGetItsAnswer() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    server.things().keepRunning();
    TestCall.Started first = keyed(server).start();
    ThingService.Running running = server.things().nextRunning();
    List<TestCall.Started> duplicates = new ArrayList<>();
    for (int duplicate = 0; duplicate < 20; duplicate++) {
      duplicates.add(keyed(server).start());
    }
    awaitWaiting(20);
    server.things().succeed();

    running.fail(Status.NOT_FOUND);

    assertThat(first.end().code()).isEqualTo(Status.Code.NOT_FOUND);
    Set<ByteString> answers = new HashSet<>();
    for (TestCall.Started duplicate : duplicates) {
      answers.addAll(duplicate.end().messages());
    }
    assertThat(answers).hasSize(1);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aDuplicateThatIsCancelledWhileItWaitsDoesNotRun() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    server.things().keepRunning();
    TestCall.Started first = keyed(server).start();
    ThingService.Running running = server.things().nextRunning();
    TestCall.Started duplicate = keyed(server).start();
    awaitWaiting(1);
    server.things().succeed();
    duplicate.cancel();
    await().until(() -> cancelled.get() == 1);

    running.fail(Status.NOT_FOUND);

    assertThat(first.end().code()).isEqualTo(Status.Code.NOT_FOUND);
    Seen next = keyed(server).end().first();
    keyed(server).end().replays(next);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  @Test
  void aHandlerThatFailsAfterItsCallHadWaitedAnswersAndFreesItsKey() throws InterruptedException {
    ThingServer server = patient(Duration.ofMinutes(1));
    server.things().keepRunning();
    keyed(server).start();
    ThingService.Running running = server.things().nextRunning();
    TestCall.Started duplicate = keyed(server).start();
    awaitWaiting(1);
    server
        .things()
        .handle(
            (request, observer) -> {
              throw new IllegalStateException("the handler has a defect");
            });

    running.fail(Status.NOT_FOUND);

    Seen failed = duplicate.end();
    assertThat(failed.code()).isEqualTo(Status.Code.UNKNOWN);
    assertThat(failed.status().getDescription()).isEqualTo("Application error processing RPC");
    server.things().succeed();
    keyed(server).end().first();
  }

  private ThingServer patient(Duration limit) {
    return start(
        server()
            .createThing(procedure -> procedure.inFlight(InFlightPolicy.attach(limit)))
            .outside(new CountingCancellations())
            .listener(
                new IdempotencyListener() {
                  @Override
                  public void attached(IdempotencyEvent.Attached event) {
                    waiting.incrementAndGet();
                  }
                }));
  }

  private final class CountingCancellations implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
        @Override
        public void onCancel() {
          super.onCancel();
          cancelled.incrementAndGet();
        }
      };
    }
  }

  private void awaitWaiting(int calls) {
    await().until(() -> waiting.get() == calls);
  }
}
