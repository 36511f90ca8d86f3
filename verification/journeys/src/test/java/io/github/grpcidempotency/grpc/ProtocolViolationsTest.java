package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client or handler that breaks the protocol gets the same from the interceptor as from gRPC in
 * one process. Over a socket, gRPC itself resets the stream of a handler that sends no message or
 * two, and the client gets {@code CANCELLED}.
 */
@ParameterizedClass
@EnumSource(Transport.class)
class ProtocolViolationsTest extends CallTest {
  private static final ThingHandler NO_RESPONSE = (request, observer) -> observer.onCompleted();
  private static final ThingHandler TWO_RESPONSES =
      (request, observer) -> {
        observer.onNext(theSameThing());
        observer.onNext(theSameThing());
        observer.onCompleted();
      };

  private final BlockingQueue<Optional<Class<?>>> thrown = new LinkedBlockingQueue<>();

  ProtocolViolationsTest(Transport transport) {
    super(transport);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2})
  void aMissingOrSecondRequestIsAnsweredAsGrpcDoes(int requests) throws InterruptedException {
    assertSameAsBare(call -> call.requests(requests), ThingHandler::answer);

    assertThat(store.claims()).isZero();
  }

  /** What a handler does with its observer, in violation of the protocol. */
  enum Violation {
    TWO_ENDS(
        observer -> {
          answer(observer);
          observer.onCompleted();
        }),
    AN_ERROR_AFTER_THE_END(
        observer -> {
          answer(observer);
          observer.onError(Status.NOT_FOUND.asRuntimeException());
        }),
    AN_END_AFTER_AN_ERROR(
        observer -> {
          observer.onError(Status.NOT_FOUND.withDescription("no thing").asRuntimeException());
          observer.onCompleted();
        }),
    A_MESSAGE_AFTER_THE_END(
        observer -> {
          answer(observer);
          observer.onNext(theSameThing());
        });

    @SuppressWarnings("ImmutableEnumChecker") // a lambda without state
    private final Consumer<StreamObserver<Thing>> deed;

    Violation(Consumer<StreamObserver<Thing>> deed) {
      this.deed = deed;
    }

    private static void answer(StreamObserver<Thing> observer) {
      observer.onNext(theSameThing());
      observer.onCompleted();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHandlersViolationIsAnsweredAsGrpcDoes(Violation violation) throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(), (request, observer) -> violation.deed.accept(observer));
  }

  @Test
  void aHandlerThatSendsTwoMessagesOrNoneIsAnsweredWithInternal() throws InterruptedException {
    assertInternal(TWO_RESPONSES, "Too many responses");
    assertInternal(NO_RESPONSE, "Completed without a response");
  }

  private void assertInternal(ThingHandler violating, String description)
      throws InterruptedException {
    ThingServer server = start(observed(violating));

    Seen seen = keyed(server).end();

    assertThat(seen.status().getCode()).as("%s", seen.status()).isEqualTo(Status.Code.INTERNAL);
    assertThat(seen.status().getDescription()).isEqualTo(description);
    assertThat(seen.trailers().get(WireMetadata.OPERATION)).isNotNull();
    assertThat(nextThrown()).as("thrown at the handler").isEmpty();
  }

  /** As a stub for coroutines does with every exception of its handler. */
  @Test
  void anExceptionThatAHandlerSendsWithoutAStatusIsLogged() {
    ThingServer server =
        start((request, observer) -> observer.onError(new IllegalStateException("a defect")));
    try (LogLines log = LogLines.listen()) {
      Seen seen = keyed(server).end();

      assertThat(seen.code()).isEqualTo(Status.Code.UNKNOWN);
      assertThat(log.warnings())
          .anyMatch(
              line -> line.contains("ended with an exception") && line.contains("CreateThing"));
    }
  }

  static Stream<RawHandler> rawHandlers() {
    return Stream.of(
        new RawHandler(call -> call.sendMessage(theSameThing())),
        new RawHandler(
            call -> {
              call.sendHeaders(new Metadata());
              call.sendHeaders(new Metadata());
            }),
        new RawHandler(
            call -> {
              call.close(Status.NOT_FOUND, new Metadata());
              call.sendHeaders(new Metadata());
            }));
  }

  @ParameterizedTest
  @MethodSource("rawHandlers")
  void missingRepeatedAndLateHeadersAreAnsweredAsGrpcDoes(RawHandler handler) {
    assertSameAsBare(handler);
  }

  @Test
  void aMissingASecondOrANullResponseFreesTheKey() {
    assertFreesTheKey(NO_RESPONSE);
    assertFreesTheKey(TWO_RESPONSES);
    assertFreesTheKey((request, observer) -> observer.onNext(nothing()));
  }

  private void assertFreesTheKey(ThingHandler handler) {
    ThingServer server = start(handler);
    String key = UUID.randomUUID().toString();
    assertThat(call(server, "a thing").as(ALICE).key(key).end().code())
        .isNotEqualTo(Status.Code.OK);
    server.things().succeed();

    call(server, "a thing").as(ALICE).key(key).end().first();
  }

  private void assertSameAsBare(UnaryOperator<TestCall> change, ThingHandler handler)
      throws InterruptedException {
    ThingServer bare = start(server().bare());
    ThingServer keyed = start();
    ThingHandler observed = observed(handler);
    bare.things().handle(observed);
    keyed.things().handle(observed);

    assertSame(change.apply(keyed(keyed)).start(), change.apply(keyed(bare)).start());
    assertThat(keyed.things().runs()).isEqualTo(bare.things().runs());
    if (keyed.things().runs() > 0) {
      assertThat(nextThrown()).as("thrown at the handler").isEqualTo(nextThrown());
    }
  }

  private void assertSameAsBare(RawHandler handler) {
    ThingServer bare = start(server().bare().inside(handler));
    ThingServer keyed = start(server().inside(handler));

    assertSame(keyed(keyed).start(), keyed(bare).start());
  }

  private static void assertSame(TestCall.Started actual, TestCall.Started expected) {
    Seen wanted = expected.end();
    Seen got = actual.end();

    assertThat(got.code()).as("%s", got.status()).isEqualTo(wanted.code());
    assertThat(got.status().getDescription()).isEqualTo(wanted.status().getDescription());
    if (wanted.status().isOk()) {
      assertThat(got.messages()).isEqualTo(wanted.messages());
    }
  }

  /** Remembers what the handler's own calls threw at it. */
  private ThingHandler observed(ThingHandler handler) {
    return (request, observer) -> {
      try {
        handler.create(request, observer);
        thrown.add(Optional.empty());
      } catch (RuntimeException failure) {
        thrown.add(Optional.of(failure.getClass()));
        throw failure;
      }
    };
  }

  private Optional<Class<?>> nextThrown() throws InterruptedException {
    Optional<Class<?>> next = thrown.poll(1, TimeUnit.MINUTES);
    assertThat(next).as("the end of a handler").isNotNull();
    return next;
  }

  private static Thing theSameThing() {
    return ThingHandler.newThing(CreateThingRequest.getDefaultInstance()).toBuilder()
        .setId("00000000-0000-0000-0000-000000000001")
        .build();
  }

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // a handler's defect
  private static Thing nothing() {
    return null;
  }

  /** Handles a call without the help of stubs, which catch much. */
  private record RawHandler(Deed deed) implements ServerInterceptor {
    interface Deed {
      void to(ServerCall<?, Thing> call);
    }

    @Override
    @SuppressWarnings("unchecked") // all methods of the service answer with things
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      call.request(2);
      return new ServerCall.Listener<>() {
        @Override
        public void onHalfClose() {
          deed.to((ServerCall<?, Thing>) call);
        }
      };
    }
  }
}
