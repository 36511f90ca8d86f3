package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FailuresTest extends CallTest {
  private static final Metadata.Key<String> OWN = WireMetadata.ascii("own");

  private static final FailurePolicy NONE_SPECIAL = FailurePolicy.releaseAll();

  @Test
  void anErrorReachesTheClientAsItIsAndFreesTheKey() {
    StatusRuntimeException error = richError(Code.NOT_FOUND);
    ThingServer server = start((request, observer) -> observer.onError(error));

    Seen failed = keyed(server).end();

    assertThat(failed.code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(failed.headers()).isEmpty();
    assertThat(failed.detail(ErrorInfo.class)).contains(errorInfo());
    assertThat(failed.trailer(OWN)).contains("trailer");
    assertKeyIsFree(server);
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        of(
            Status.Code.NOT_FOUND,
            (request, observer) -> {
              observer.onNext(ThingHandler.newThing(request));
              observer.onError(Status.NOT_FOUND.asRuntimeException());
            }),
        of(
            Status.Code.UNKNOWN,
            (request, observer) -> {
              throw new IllegalStateException("the handler has a defect");
            }),
        of(
            Status.Code.UNKNOWN,
            (request, observer) -> {
              throw new NoSuchMethodError("a library is missing");
            }),
        of(
            Status.Code.UNKNOWN,
            (request, observer) -> {
              observer.onNext(ThingHandler.newThing(request));
              throw new IllegalStateException("the handler has a defect");
            }));
  }

  private static Arguments of(Status.Code code, ThingHandler handler) {
    return arguments(code, handler);
  }

  @ParameterizedTest
  @MethodSource("failures")
  void anErrorOrExceptionOfAHandlerThatHasNotAnsweredFreesTheKey(
      Status.Code code, ThingHandler handler) {
    ThingServer server = start(handler);

    assertThat(keyed(server).end().code()).isEqualTo(code);

    assertKeyIsFree(server);
  }

  @Test
  void anExceptionAfterTheAnswerChangesNothing() {
    ThingServer server =
        start(
            (request, observer) -> {
              ThingHandler.answer(request, observer);
              throw new IllegalStateException("the handler has a defect");
            });
    Seen first = keyed(server).end().first();

    keyed(server).end().replays(first);

    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aTerminalErrorIsReplayedWithItsDetails() {
    StatusRuntimeException error = richError(Code.FAILED_PRECONDITION);
    ThingServer server =
        start(
            with(NONE_SPECIAL.withTerminal(Code.FAILED_PRECONDITION))
                .handler((request, observer) -> observer.onError(error)));
    Seen first = keyed(server).end();
    server.things().succeed();

    Seen retry = keyed(server).end();

    assertThat(first.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(retry.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
    assertThat(retry.status().getDescription()).isEqualTo("no thing today");
    assertThat(retry.headers()).isEmpty();
    assertThat(retry.trailers().get(Seen.DETAILS))
        .isNotNull()
        .isEqualTo(first.trailers().get(Seen.DETAILS));
    assertThat(retry.detail(ErrorInfo.class)).contains(errorInfo());
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aTerminalErrorWithoutWordsIsReplayedWithoutWords() {
    ThingServer server =
        start(
            with(NONE_SPECIAL.withTerminal(Code.NOT_FOUND))
                .handler(
                    (request, observer) ->
                        observer.onError(Status.NOT_FOUND.asRuntimeException())));
    keyed(server).end();

    Seen retry = keyed(server).end();

    assertThat(retry.code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(retry.status().getDescription()).isNull();
    assertThat(retry.trailers().get(Seen.DETAILS)).isNull();
    assertThat(server.things().runs()).isEqualTo(1);
  }

  @Test
  void aHandlerMayMarkAnErrorAsTerminal() {
    ThingServer server =
        start(
            (request, observer) -> {
              Metadata trailers = new Metadata();
              IdempotencyMetadata.markTerminal(trailers);
              observer.onError(Status.NOT_FOUND.asRuntimeException(trailers));
            });
    Seen first = keyed(server).end();
    server.things().succeed();

    Seen retry = keyed(server).end();

    assertThat(retry.code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(server.things().runs()).isEqualTo(1);
    assertThat(ours(first)).containsExactly("idempotency-operation");
    assertThat(ours(retry))
        .containsExactlyInAnyOrder("idempotency-operation", "idempotency-replayed");
    assertThat(retry.trailer(IdempotencyMetadata.OPERATION))
        .isEqualTo(first.trailer(IdempotencyMetadata.OPERATION));
  }

  @Test
  void anErrorThatFreesItsKeyNamesItsOperation() {
    ThingServer server =
        start(
            (request, observer) -> {
              Metadata forged = new Metadata();
              forged.put(IdempotencyMetadata.OPERATION, "forged");
              forged.put(IdempotencyMetadata.REPLAYED, "true");
              observer.onError(Status.INVALID_ARGUMENT.asRuntimeException(forged));
            });

    Seen seen = keyed(server).end();

    assertThat(ours(seen)).containsExactly("idempotency-operation");
    assertThat(seen.trailer(IdempotencyMetadata.OPERATION)).isNotEqualTo(Optional.of("forged"));
  }

  @Test
  void anErrorOfACallThatRunsUnprotectedNamesNoOperation() {
    ThingServer server =
        start((request, observer) -> observer.onError(Status.NOT_FOUND.asRuntimeException()));

    Seen withoutCaller = call(server, "a thing").key(KEY).end();

    assertThat(withoutCaller.code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(ours(withoutCaller)).isEmpty();
  }

  private static List<String> ours(Seen seen) {
    return seen.trailers().keys().stream().filter(name -> name.startsWith("idempotency-")).toList();
  }

  @Test
  void anUnknownOutcomeHoldsTheKeyUntilTheLeaseEnds() {
    ThingServer server =
        start(
            with(NONE_SPECIAL.withUnknown(Code.UNAVAILABLE))
                .handler(
                    (request, observer) ->
                        observer.onError(Status.UNAVAILABLE.asRuntimeException())));
    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.UNAVAILABLE);
    server.things().succeed();

    Seen early = keyed(server).end();

    early.refused(Status.Code.ABORTED, "IDEMPOTENCY_OUTCOME_UNKNOWN");
    assertThat(early.retryAfter())
        .isBetween(LEASE.minusSeconds(15), LEASE.multipliedBy(3).dividedBy(2));
    assertThat(server.things().runs()).isEqualTo(1);
    letPass(LEASE);
    keyed(server).end().first();
  }

  @Test
  void anErrorReachesTheClientEvenIfTheKeyCannotBeFreedYet() {
    ThingServer server =
        start((request, observer) -> observer.onError(Status.NOT_FOUND.asRuntimeException()));
    store.failSettlements();

    assertThat(keyed(server).end().code()).isEqualTo(Status.Code.NOT_FOUND);

    server.things().succeed();
    keyed(server).end().refused(Status.Code.ABORTED, "IDEMPOTENCY_IN_PROGRESS");
    store.recover();
    await().until(() -> keyed(server).end().code() == Status.Code.OK);
    assertThat(server.things().runs()).isEqualTo(2);
  }

  private void assertKeyIsFree(ThingServer server) {
    server.things().succeed();
    keyed(server).end().first();
    assertThat(server.things().runs()).isEqualTo(2);
  }

  private ThingServer.Builder with(FailurePolicy policy) {
    return server().createThing(procedure -> procedure.failures(policy));
  }

  private static ErrorInfo errorInfo() {
    return ErrorInfo.newBuilder().setReason("SOLD_OUT").setDomain("things").build();
  }

  private static StatusRuntimeException richError(Code code) {
    Metadata trailers = new Metadata();
    trailers.put(OWN, "trailer");
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(code.getNumber())
            .setMessage("no thing today")
            .addDetails(Any.pack(errorInfo()))
            .build(),
        trailers);
  }
}
