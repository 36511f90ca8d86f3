package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.internal.wire.WireMetadata;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.PastResources;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Deletes: their retries, and the errors of a call that finds nothing to delete. */
class DeletesTest extends CallTest {
  private static final String GONE = "IDEMPOTENCY_RESOURCE_GONE";
  private static final UUID THING = UUID.randomUUID();
  private static final Metadata.Key<String> OWN = WireMetadata.ascii("own");
  private static final ErrorInfo OWN_INFO =
      ErrorInfo.newBuilder().setReason("NO_SUCH_THING").setDomain("things").build();
  private static final UnaryOperator<ProcedureBuilder<?>> AS_IT_IS = UnaryOperator.identity();

  /** The things that are there, and those that were. */
  private final Set<UUID> things = ConcurrentHashMap.newKeySet();

  private final Set<UUID> tombstones = ConcurrentHashMap.newKeySet();
  private final List<Caller> asked = Collections.synchronizedList(new ArrayList<>());

  DeletesTest() {
    things.add(THING);
  }

  @Test
  void aRetryOfADeleteGetsTheFirstAnswer() {
    ThingServer server = start(deleting(AS_IT_IS));
    ThingClient client = ThingClient.on(server.channel());
    Reply first = client.deleteThing(THING);

    Reply retry = client.deleteThing(THING);

    assertThat(first.isOk()).as(first.toString()).isTrue();
    assertThat(first.isReplay()).isFalse();
    assertThat(retry.isReplay()).as(retry.toString()).isTrue();
    assertThat(retry.bytes()).isEqualTo(first.bytes());
    assertThat(retry.operation()).isEqualTo(first.operation()).isPresent();
    assertThat(retry.expires()).isEqualTo(first.expires()).isPresent();
    assertThat(retry.operationStatus()).isEqualTo(first.operationStatus()).contains("completed");
    assertThat(server.runs()).isEqualTo(1);
    assertThat(asked).isEmpty();
  }

  @Test
  void aMissingResourceIsNotFoundWithTheHandlersStatus() {
    ThingServer server = start(deleting(AS_IT_IS));
    ThingClient client = ThingClient.on(server.channel());

    Reply reply = client.deleteThing(UUID.randomUUID());

    assertThat(reply.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(reply.reason()).isEmpty();
    assertThat(reply.details(ErrorInfo.class)).containsExactly(OWN_INFO);
    assertThat(asked).containsExactly(Caller.of(client.user()));
    things.add(THING);
    assertThat(client.deleteThing(THING).isOk()).as("the key is free").isTrue();
  }

  @Test
  void whatSomebodyElseHasDeletedIsNotFoundWithTheReasonBesideTheHandlersOwnWords() {
    ThingServer server = start(deleting(AS_IT_IS));
    ThingClient client = ThingClient.on(server.channel());
    client.deleteThing(THING);

    Reply other = client.withNewKey().deleteThing(THING);

    assertThat(other.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(other.description()).isEqualTo("there is no such thing");
    assertThat(other.reason()).isEqualTo(GONE);
    assertThat(other.details(ErrorInfo.class)).hasSize(2).startsWith(OWN_INFO);
    assertThat(other.trailers().get(OWN)).isEqualTo("trailer");
    assertThat(other.trailers().getAll(Seen.DETAILS)).hasSize(1);
    assertThat(other.trailers().keys())
        .filteredOn(name -> name.startsWith("idempotency-"))
        .containsExactly("idempotency-operation");
  }

  @Test
  void anErrorThatTheHandlerMarksAsTerminalIsRecordedWithTheReasonAndLosesItsMark() {
    ThingServer server = start(deleting(AS_IT_IS));
    ThingClient client = ThingClient.on(server.channel());
    tombstones.add(THING);
    Metadata trailers = new Metadata();
    IdempotencyMetadata.markTerminal(trailers);
    endWith(server, Status.NOT_FOUND.asRuntimeException(trailers));
    Reply first = client.deleteThing(THING);

    Reply retry = client.deleteThing(THING);

    assertThat(first.reason()).isEqualTo(GONE);
    assertThat(retry.reason()).isEqualTo(GONE);
    assertThat(first.trailers().keys())
        .filteredOn(name -> name.startsWith("idempotency-"))
        .containsExactly("idempotency-operation");
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void ifTheLookUpFailsTheHandlersErrorIsNotChanged() {
    ThingServer server =
        start(
            deleting(
                procedure ->
                    procedure.pastResources(
                        (caller, id) -> {
                          throw new AssertionError("the tombstones are gone");
                        })));
    things.clear();
    try (LogLines log = LogLines.listen()) {
      Reply reply = ThingClient.on(server.channel()).deleteThing(THING);

      assertThat(reply.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
      assertThat(reply.description()).isEqualTo("there is no such thing");
      assertThat(reply.details(ErrorInfo.class)).containsExactly(OWN_INFO);
      assertThat(log.warnings()).anyMatch(line -> line.contains("the tombstones are gone"));
    }
  }

  @Test
  void detailsThatCannotBeReadAreLeftAlone() {
    ThingServer server = start(deleting(AS_IT_IS));
    tombstones.add(THING);
    Metadata trailers = new Metadata();
    trailers.put(Seen.DETAILS, new byte[] {1, 2, 3});
    endWith(server, Status.NOT_FOUND.asRuntimeException(trailers));

    Reply reply = ThingClient.on(server.channel()).deleteThing(THING);

    assertThat(reply.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(reply.trailers().get(Seen.DETAILS)).containsExactly(1, 2, 3);
  }

  @Test
  void onlyNotFoundOfAKeyedCallThatNamesAThingIsLookedUp() {
    ThingServer server = start(deleting(AS_IT_IS));
    ThingClient client = ThingClient.on(server.channel());
    tombstones.add(THING);
    things.clear();

    assertThat(client.withoutKey().deleteThing(THING).reason()).isEmpty();
    assertThat(client.startDeletion("").join().reason()).isEmpty();
    endWith(server, Status.PERMISSION_DENIED.asRuntimeException());
    assertThat(client.deleteThing(THING).reason()).isEmpty();

    assertThat(asked).isEmpty();
    assertThat(server.runs()).isEqualTo(3);
  }

  @Test
  void withoutALookUpTheHandlersErrorIsNotChanged() {
    Procedure plain =
        Procedure.of(ThingServer.DELETE_THING)
            .execution(Execution.RESERVED)
            .deletes(ResourceType.of("thing"), "id")
            .build();
    ThingServer server = start(server().describe(plain));
    server.things().handleDeletes((request, answer) -> answer.onError(notFound()));

    Reply reply = ThingClient.on(server.channel()).deleteThing(THING);

    assertThat(reply.details(ErrorInfo.class)).containsExactly(OWN_INFO);
  }

  @Test
  void theLookUpOfDeletedResourcesRunsInTheHandlersContext() {
    List<Optional<UUID>> operations = Collections.synchronizedList(new ArrayList<>());
    PastResources past =
        (caller, id) ->
            caller.equals(ThingServer.caller()) && operations.add(CurrentOperation.operationId());
    ThingServer server = start(deleting(procedure -> procedure.pastResources(past)));
    List<Optional<UUID>> handlers = Collections.synchronizedList(new ArrayList<>());
    server
        .things()
        .handleDeletes(
            (request, answer) -> {
              handlers.add(CurrentOperation.operationId());
              Thread elsewhere = new Thread(() -> answer.onError(notFound()));
              elsewhere.start();
            });

    assertThat(ThingClient.on(server.channel()).deleteThing(THING).reason()).isEqualTo(GONE);

    assertThat(operations).isEqualTo(handlers).hasSize(1).doesNotContain(Optional.empty());
  }

  private ThingServer.Builder deleting(UnaryOperator<ProcedureBuilder<?>> change) {
    ProcedureBuilder<?> procedure =
        Procedure.of(ThingServer.DELETE_THING)
            .execution(Execution.RESERVED)
            .deletes(ResourceType.of("thing"), "id")
            .pastResources(
                (caller, id) -> {
                  asked.add(caller);
                  return tombstones.contains(id.asUuid());
                });
    return server().describe(change.apply(procedure).build());
  }

  @Override
  ThingServer start(ThingServer.Builder builder) {
    ThingServer server = super.start(builder);
    server
        .things()
        .handleDeletes(
            (request, answer) -> {
              if (isId(request.getId()) && things.remove(UUID.fromString(request.getId()))) {
                tombstones.add(UUID.fromString(request.getId()));
                ThingService.answer(answer);
              } else {
                answer.onError(notFound());
              }
            });
    return server;
  }

  private static boolean isId(String text) {
    return text.length() == THING.toString().length();
  }

  private static void endWith(ThingServer server, StatusRuntimeException error) {
    server.things().handleDeletes((request, answer) -> answer.onError(error));
  }

  private static StatusRuntimeException notFound() {
    Metadata trailers = new Metadata();
    trailers.put(OWN, "trailer");
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Code.NOT_FOUND.getNumber())
            .setMessage("there is no such thing")
            .addDetails(Any.pack(OWN_INFO))
            .build(),
        trailers);
  }
}
