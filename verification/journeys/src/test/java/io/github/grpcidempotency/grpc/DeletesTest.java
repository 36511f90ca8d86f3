package io.github.grpcidempotency.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.grpc.internal.WireMetadata;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Deletes: their retries, and the errors of a call that finds nothing to delete. */
class DeletesTest extends CallTest {
  private static final String GONE = "IDEMPOTENCY_RESOURCE_GONE";
  private static final UUID THING = UUID.randomUUID();
  private static final Metadata.Key<String> OWN = WireMetadata.ascii("own");
  private static final ErrorInfo OWN_INFO =
      ErrorInfo.newBuilder().setReason("NO_SUCH_THING").setDomain("things").build();
  private static final ErrorInfo GONE_INFO =
      ErrorInfo.newBuilder().setReason(GONE).setDomain(WireNames.ERROR_DOMAIN).build();
  private static final Procedure DELETE_THING =
      Procedure.of(ThingServer.DELETE_THING)
          .execution(Execution.RESERVED)
          .deletes(ResourceType.of("thing"), "id")
          .build();

  /** The things that are there, and those that were. */
  private final Set<UUID> things = ConcurrentHashMap.newKeySet();

  private final Set<UUID> tombstones = ConcurrentHashMap.newKeySet();

  DeletesTest() {
    things.add(THING);
  }

  @Test
  void aMissingResourceIsNotFoundWithTheHandlersStatus() {
    ThingServer server = start(server().describe(DELETE_THING));
    ThingClient client = ThingClient.on(server.channel());

    Reply reply = client.deleteThing(UUID.randomUUID());

    assertThat(reply.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(reply.reason()).isEmpty();
    assertThat(reply.details(ErrorInfo.class)).containsExactly(OWN_INFO);
    things.add(THING);
    assertThat(client.deleteThing(THING).isOk()).as("the key is free").isTrue();
  }

  @Test
  void theReasonOfAHandlerThatDistinguishesADeletedResourceIsSentUnchanged() {
    ThingServer server = start(server().describe(DELETE_THING));
    ThingClient client = ThingClient.on(server.channel());
    client.deleteThing(THING);

    Reply other = client.withNewKey().deleteThing(THING);

    assertThat(other.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(other.description()).isEqualTo("there is no such thing");
    assertThat(other.reason()).isEqualTo(GONE);
    assertThat(other.details(ErrorInfo.class)).containsExactly(GONE_INFO);
    assertThat(other.trailers().get(OWN)).isEqualTo("trailer");
    assertThat(other.trailers().getAll(Seen.DETAILS)).hasSize(1);
    assertThat(other.trailers().keys())
        .filteredOn(name -> name.startsWith("idempotency-"))
        .containsExactly("idempotency-operation");
  }

  @Override
  ThingServer start(ThingServer.Builder builder) {
    ThingServer server = super.start(builder);
    server
        .things()
        .handleDeletes(
            (request, answer) -> {
              UUID id = UUID.fromString(request.getId());
              if (things.remove(id)) {
                tombstones.add(id);
                ThingService.answer(answer);
              } else {
                answer.onError(notFound(tombstones.contains(id) ? GONE_INFO : OWN_INFO));
              }
            });
    return server;
  }

  private static StatusRuntimeException notFound(ErrorInfo info) {
    Metadata trailers = new Metadata();
    trailers.put(OWN, "trailer");
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Code.NOT_FOUND.getNumber())
            .setMessage("there is no such thing")
            .addDetails(Any.pack(info))
            .build(),
        trailers);
  }
}
