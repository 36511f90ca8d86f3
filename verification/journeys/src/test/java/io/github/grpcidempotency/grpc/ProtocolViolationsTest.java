package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A client or handler that breaks the protocol gets the same from the interceptor as from gRPC. */
@ParameterizedClass
@EnumSource(Transport.class)
class ProtocolViolationsTest extends CallTest {
  private final BlockingQueue<Optional<Class<?>>> thrown = new LinkedBlockingQueue<>();

  ProtocolViolationsTest(Transport transport) {
    super(transport);
  }

  // Of the client

  @Test
  void aSecondRequestIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(call -> call.requests(2), ThingHandler::answer);

    assertThat(store.claims()).isZero();
  }

  @Test
  void aMissingRequestIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(call -> call.requests(0), ThingHandler::answer);

    assertThat(store.claims()).isZero();
  }

  // Of the handler

  @Test
  void aMissingResponseIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(UnaryOperator.identity(), (request, observer) -> observer.onCompleted());
  }

  @Test
  void aSecondResponseIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(),
        (request, observer) -> {
          observer.onNext(theSameThing());
          observer.onNext(theSameThing());
          observer.onCompleted();
        });
  }

  @Test
  void aSecondEndIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(),
        (request, observer) -> {
          observer.onNext(theSameThing());
          observer.onCompleted();
          observer.onCompleted();
        });
  }

  @Test
  void anErrorAfterTheEndIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(),
        (request, observer) -> {
          observer.onNext(theSameThing());
          observer.onCompleted();
          observer.onError(Status.NOT_FOUND.asRuntimeException());
        });
  }

  @Test
  void anEndAfterAnErrorIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(),
        (request, observer) -> {
          observer.onError(Status.NOT_FOUND.withDescription("no thing").asRuntimeException());
          observer.onCompleted();
        });
  }

  @Test
  void aMessageAfterTheEndIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        UnaryOperator.identity(),
        (request, observer) -> {
          observer.onNext(theSameThing());
          observer.onCompleted();
          observer.onNext(theSameThing());
        });
  }

  @Test
  void aMessageWithoutHeadersIsAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(new RawHandler(call -> call.sendMessage(theSameThing())));
  }

  @Test
  void headersSentTwiceAreAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        new RawHandler(
            call -> {
              call.sendHeaders(new Metadata());
              call.sendHeaders(new Metadata());
            }));
  }

  @Test
  void headersAfterTheEndAreAnsweredAsGrpcDoes() throws InterruptedException {
    assertSameAsBare(
        new RawHandler(
            call -> {
              call.close(Status.NOT_FOUND, new Metadata());
              call.sendHeaders(new Metadata());
            }));
  }

  @Test
  void aSecondResponseFreesTheKey() {
    assertFreesTheKey(
        (request, observer) -> {
          observer.onNext(theSameThing());
          observer.onNext(theSameThing());
          observer.onCompleted();
        });
  }

  @Test
  void aMissingResponseFreesTheKey() {
    assertFreesTheKey((request, observer) -> observer.onCompleted());
  }

  @Test
  void aResponseThatIsNoMessageFreesTheKey() {
    assertFreesTheKey(
        (request, observer) -> {
          observer.onNext(nothing());
          observer.onCompleted();
        });
  }

  private void assertFreesTheKey(ThingHandler handler) {
    ThingServer server = start(handler);
    assertThat(keyed(server).end().code()).isNotEqualTo(Status.Code.OK);
    server.things().succeed();

    keyed(server).end().first();
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
    Optional<Class<?>> next = thrown.poll(10, TimeUnit.SECONDS);
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
