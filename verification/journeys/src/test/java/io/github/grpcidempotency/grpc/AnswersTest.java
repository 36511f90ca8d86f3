package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.rpc.Code;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("transports")
class AnswersTest extends CallTest {
  AnswersTest(Transport transport) {
    super(transport);
  }

  @Test
  void theFirstAnswerHasTheTrailersOfItsRecord() {
    Seen first = keyed(start()).end();

    assertThat(first.code()).isEqualTo(Status.Code.OK);
    assertThat(first.thing().getName()).isEqualTo("a thing");
    assertThat(first.trailer(IdempotencyMetadata.STATUS)).contains("completed");
    assertThat(first.trailer(IdempotencyMetadata.REPLAYED)).isEmpty();
    assertThat(first.trailer(IdempotencyMetadata.OPERATION))
        .hasValueSatisfying(id -> assertThat(UUID.fromString(id)).hasToString(id));
    assertThat(first.trailer(IdempotencyMetadata.EXPIRES))
        .hasValueSatisfying(
            expires ->
                assertThat(Instant.parse(expires))
                    .isCloseTo(
                        Instant.now().plus(24, ChronoUnit.HOURS),
                        Assertions.within(1, ChronoUnit.MINUTES)));
  }

  @Test
  void aHandlerCanReadItsOperation() {
    List<String> runs = new CopyOnWriteArrayList<>();
    ServerInterceptor inside =
        new ServerInterceptor() {
          @Override
          public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
              ServerCall<RequestT, ResponseT> call,
              Metadata headers,
              ServerCallHandler<RequestT, ResponseT> next) {
            runs.add(
                "%s %s %s"
                    .formatted(
                        CurrentOperation.operationId().map(UUID::toString).orElse("none"),
                        CurrentOperation.attempt(),
                        CurrentOperation.hasTransaction()));
            return next.startCall(call, headers);
          }
        };

    Seen first = keyed(start(server().inside(inside))).end();

    assertThat(runs)
        .containsExactly(
            "%s %s %s"
                .formatted(
                    first.trailer(IdempotencyMetadata.OPERATION).orElseThrow(),
                    OptionalInt.of(1),
                    false));
    assertThatIllegalStateException().isThrownBy(CurrentOperation::setRollbackOnly);
  }

  @Test
  void aRetryGetsTheFirstAnswer() {
    ThingServer server = start();
    Seen first = keyed(server).end().first();

    Seen retry = keyed(server).end();

    retry.replays(first);
    assertThat(retry.trailer(IdempotencyMetadata.STATUS)).contains("completed");
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void asynchronousWorkIsProcessingFirstAndThenHasTheStatusOfItsResolver() {
    ThingServer server =
        start(server().createThing(procedure -> procedure.status(id -> IdempotencyStatus.FAILED)));

    Seen first = keyed(server).end().first();
    Seen retry = keyed(server).end();

    assertThat(first.trailer(IdempotencyMetadata.STATUS)).contains("processing");
    assertThat(retry.trailer(IdempotencyMetadata.STATUS)).contains("failed");
    retry.replays(first);
  }

  @Test
  void anEmptyResponseIsReplayedAsWell() {
    ThingServer server =
        start(
            (request, observer) -> {
              observer.onNext(Thing.getDefaultInstance());
              observer.onCompleted();
            });
    Seen first = keyed(server).end().first();

    keyed(server).end().replays(first);

    assertThat(server.things().runs()).isEqualTo(1);
  }

  /** Clients accept 8 KiB of trailers, and a replay has one more than the first answer. */
  @Test
  void aTerminalErrorArrivesAsAReplayIfItArrivesFirst() {
    for (String description :
        List.of("", "too long: " + "x".repeat(7890), "zu lang: " + "\u00e4".repeat(2600))) {
      ThingServer server =
          start(
              server()
                  .createThing(
                      thing ->
                          thing.failures(FailurePolicy.releaseAll().withTerminal(Code.NOT_FOUND)))
                  .handler(
                      (request, observer) ->
                          observer.onError(
                              Status.NOT_FOUND.withDescription(description).asException())));
      String key = UUID.randomUUID().toString();

      Seen first = call(server, "a thing").as(ALICE).key(key).end();
      Seen replay = call(server, "a thing").as(ALICE).key(key).end();

      assertThat(first.code()).isEqualTo(Status.Code.NOT_FOUND);
      assertThat(replay.isReplayed()).as("%s", replay.status()).isTrue();
      assertThat(replay.code()).isEqualTo(Status.Code.NOT_FOUND);
      assertThat(replay.status().getDescription()).isEqualTo(first.status().getDescription());
      assertThat(first.status().getDescription())
          .startsWith(description.substring(0, Math.min(description.length(), 600)));
    }
  }

  @Test
  void anotherUserOrNamespaceWithTheSameKeyIsAnotherOperation() {
    ThingServer server = start();
    Seen alice = keyed(server).end().first();

    Seen bob = call(server, "a thing").as(BOB).key(KEY).end().first();
    Seen elsewhere = call(server, "a thing").as(ALICE, "tenant").key(KEY).end().first();

    assertThat(bob.thing().getId()).isNotEqualTo(alice.thing().getId());
    assertThat(elsewhere.thing().getId()).isNotEqualTo(alice.thing().getId());
    assertThat(server.things().runs()).isEqualTo(3);
  }

  @Test
  void onceARecordHasExpiredItsKeyIsFree() {
    ThingServer server =
        start(server().createThing(procedure -> procedure.retention(Duration.ofHours(1))));
    Seen first = keyed(server).end().first();
    letPass(Duration.ofHours(1));

    Seen second = call(server, "another thing").as(ALICE).key(KEY).end().first();

    assertThat(second.trailer(IdempotencyMetadata.OPERATION))
        .isNotEqualTo(first.trailer(IdempotencyMetadata.OPERATION));
  }

  @Test
  void theHandlersOwnMetadataIsSentWithTheFirstAnswer() {
    Metadata.Key<String> own = WireMetadata.ascii("own");
    ThingServer server = start(server().inside(new Adding(own, "header", "trailer")));

    Seen first = keyed(server).end().first();

    assertThat(first.headers()).extracting(headers -> headers.get(own)).containsExactly("header");
    assertThat(first.trailer(own)).contains("trailer");
  }

  @Test
  void aHandlerCannotForgeTheTrailersOfTheContract() {
    ThingServer server =
        start(server().inside(new Adding(IdempotencyMetadata.STATUS, "forged", "forged")));

    Seen first = keyed(server).end();

    assertThat(first.trailers().getAll(IdempotencyMetadata.STATUS)).containsExactly("completed");
  }

  /** Adds metadata to what a handler sends. */
  private record Adding(Metadata.Key<String> key, String header, String trailer)
      implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata requestHeaders,
        ServerCallHandler<RequestT, ResponseT> next) {
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void sendHeaders(Metadata headers) {
              headers.put(key, header);
              super.sendHeaders(headers);
            }

            @Override
            public void close(Status status, Metadata trailers) {
              trailers.put(key, trailer);
              super.close(status, trailers);
            }
          },
          requestHeaders);
    }
  }
}
