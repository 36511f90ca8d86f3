package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The context in which a call arrived is current again wherever the call goes on. */
class ScopesTest extends CallTest {
  /** What stands for a current span: the names of the scopes that an action runs in. */
  private static final ThreadLocal<Deque<String>> CURRENT =
      ThreadLocal.withInitial(ArrayDeque::new);

  private final EventJournal outer = new EventJournal();
  private final EventJournal inner = new EventJournal();
  private final List<String> eventsRanIn = new CopyOnWriteArrayList<>();
  private final List<String> callbacksRanIn = new CopyOnWriteArrayList<>();

  ScopesTest() {
    outer.capturing(() -> new Named("outer"));
    inner.capturing(() -> new Named("inner"));
    inner.onEach(event -> eventsRanIn.add(name(event) + " in " + current()));
  }

  /** What a scope does that it should not do. */
  enum Defect {
    THROWS_BEFORE,
    THROWS_AFTER,
    NEVER_RUNS,
    RUNS_TWICE,
    SWALLOWS;

    void run(Runnable action) {
      switch (this) {
        case THROWS_BEFORE -> throw new IllegalStateException("a scope fails");
        case THROWS_AFTER -> {
          action.run();
          throw new NoClassDefFoundError("a/scope/Needs");
        }
        case NEVER_RUNS -> {}
        case RUNS_TWICE -> {
          action.run();
          action.run();
        }
        case SWALLOWS -> {
          try {
            action.run();
          } catch (RuntimeException swallowed) {
            // As no scope should.
          }
        }
      }
    }
  }

  @Test
  void everyEventOfACallIsReportedWithinItsScopes() {
    ThingServer server = start(scoped(server()));

    keyed(server).end().first();

    assertThat(eventsRanIn)
        .containsExactly(
            "KEY_FOUND in outer inner", "CLAIMED in outer inner", "SETTLED in outer inner");
  }

  @Test
  void aHandlerThatRunsAfterAWaitRunsWithinTheScopesOfItsOwnCall() throws InterruptedException {
    AtomicReference<String> handlerRanIn = new AtomicReference<>("");
    ThingServer server = start(scoped(patient()));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server);
    server
        .things()
        .handle(
            (request, answer) -> {
              handlerRanIn.set(current());
              ThingHandler.answer(request, answer);
            });

    running.fail(Status.NOT_FOUND);
    duplicate.end().first();

    assertThat(handlerRanIn).hasValue("outer inner");
    assertThat(eventsRanIn).allMatch(event -> event.endsWith("outer inner"));
    assertThat(callbacksRanIn).contains("onHalfClose in outer inner");
    await().until(() -> callbacksRanIn.contains("onComplete in outer inner"));
  }

  @Test
  void aCancellationAfterAWaitReachesTheHandlerWithinTheScopesOfItsCall()
      throws InterruptedException {
    ThingServer server = start(scoped(patient()));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server);
    running.fail(Status.NOT_FOUND);
    ThingService.Running second = server.things().nextRunning();

    duplicate.cancel();

    await().until(() -> callbacksRanIn.contains("onCancel in outer inner"));
    second.succeed();
  }

  /**
   * Otherwise the order of the call would end with the failure, and the handler would not see it.
   */
  @Test
  void aCallThatCannotBeClosedAfterItsHandlerThrewIsStillCancelled() throws InterruptedException {
    ThingServer server = start(scoped(patient()).outside(new Unclosable()));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server);
    server
        .things()
        .handle(
            (request, answer) -> {
              throw new IllegalStateException("on purpose");
            });
    running.fail(Status.NOT_FOUND);
    await().until(() -> inner.all(Kind.SETTLED, SettlementEvent.class).size() == 2);

    duplicate.cancel();

    await().until(() -> callbacksRanIn.contains("onCancel in outer inner"));
  }

  @ParameterizedTest
  @EnumSource
  void whateverAScopeDoesACallIsServedOnce(Defect defect) throws InterruptedException {
    outer.capturing(() -> defect::run);
    ThingServer server = start(scoped(patient()));
    ThingService.Running running = runningOne(server);
    TestCall.Started duplicate = attach(server);
    server.things().succeed();

    running.fail(Status.NOT_FOUND);
    duplicate.end().first();

    assertThat(server.runs()).isEqualTo(2);
    // The waiting call goes on once the first is settled, beside the event that says so.
    assertThat(inner.kinds())
        .containsExactlyInAnyOrder(
            Kind.KEY_FOUND,
            Kind.CLAIMED,
            Kind.KEY_FOUND,
            Kind.ATTACHED,
            Kind.SETTLED,
            Kind.WAIT_ENDED,
            Kind.CLAIMED,
            Kind.SETTLED);
    assertThat(outer.kinds()).containsExactlyInAnyOrderElementsOf(inner.kinds());
  }

  @Test
  void aListenerThatCannotCaptureAffectsNoOtherListener() {
    outer.capturing(
        () -> {
          throw new IllegalStateException("there is no span");
        });
    ThingServer server = start(scoped(server()));

    keyed(server).end().first();

    assertThat(eventsRanIn).allMatch(event -> event.endsWith(" in inner")).hasSize(3);
  }

  private ThingServer.Builder scoped(ThingServer.Builder builder) {
    return builder
        .settings(
            settings ->
                settings
                    .listener(outer.listener())
                    .listener(inner.listener())
                    .executor(task -> new Thread(task, "another thread").start()))
        .inside(new Callbacks());
  }

  private ThingServer.Builder patient() {
    return server().createThing(thing -> thing.attach(Duration.ofMinutes(1)));
  }

  private TestCall.Started attach(ThingServer server) {
    TestCall.Started duplicate = keyed(server).start();
    await().until(() -> !inner.all(Kind.ATTACHED, CallEvent.class).isEmpty());
    return duplicate;
  }

  private static String name(IdempotencyEvent event) {
    return event.kind().name();
  }

  private static String current() {
    return String.join(" ", CURRENT.get());
  }

  /** Makes its name current. */
  private record Named(String name) implements CallScope {
    @Override
    public void run(Runnable action) {
      CURRENT.get().addLast(name);
      try {
        action.run();
      } finally {
        CURRENT.get().removeLast();
      }
    }
  }

  /** Calls that cannot be closed with the status of a handler that has thrown. */
  private static final class Unclosable implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
              if (status.getCode() == Status.Code.UNKNOWN) {
                throw new NoClassDefFoundError("a/status/Needs");
              }
              super.close(status, trailers);
            }
          },
          headers);
    }
  }

  /** Records the scopes in which gRPC calls a listener. */
  private final class Callbacks implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
        @Override
        public void onHalfClose() {
          note("onHalfClose");
          super.onHalfClose();
        }

        @Override
        public void onCancel() {
          note("onCancel");
          super.onCancel();
        }

        @Override
        public void onComplete() {
          note("onComplete");
          super.onComplete();
        }
      };
    }

    private void note(String callback) {
      callbacksRanIn.add(callback + " in " + current());
    }
  }
}
