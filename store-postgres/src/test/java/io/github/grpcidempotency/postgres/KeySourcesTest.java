package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every way that a key can arrive, over the socket. */
class KeySourcesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final String KEY_INVALID = "IDEMPOTENCY_KEY_INVALID";

  @Test
  void theLongestKeyInTheWidestLettersAndTheLongestNamespaceIsKept() {
    String key = "\uFFFD".repeat(512);
    try (ThingServer server = keyedFrom(KeySource.requestField("name"));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      ThingClient deep = client.in("t".repeat(63) + "/" + "p".repeat(63));

      assertOnce(server, deep, Things.named(key));
      assertRefused(client.createThing(Things.named("a\0b")), KEY_INVALID);
      assertThat(server.events()).doesNotContain("unprotected FAILED_OPEN");
    }
  }

  /** Each call is asked for by the value that its client has, and by the text of its key. */
  @Test
  void aCallIsRecoveredByTheValueThatItsClientHas() throws Exception {
    String id = "0193A0C4-7e5b-7cc1-9d6e-aabbccddeeff";
    String requestId = UUID.randomUUID().toString();
    try (ThingServer server =
            keyedFromOne(
                KeySource.firstOf(
                    KeySource.metadata("x-event").as(KeyFormat.opaque()).prefixed("event:"),
                    KeySource.requestId(),
                    KeySource.assignedId("thing.id"),
                    KeySource.content("name")));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      CreateThingRequest assigned = ofThing(id, "");
      Reply ofEvent = client.with("x-event", "e-1").createThing(REQUEST);
      Reply ofRequestId = client.createThing(withRequestId(requestId));
      Reply ofId = client.createThing(assigned);
      Reply ofContent = client.createThing(REQUEST);

      for (String key : List.of("e-1", "event:e-1")) {
        assertThat(recover(client, asking(key))).isEqualTo(ofEvent.thing());
      }
      for (String key : List.of(requestId, requestId.toUpperCase(Locale.ROOT))) {
        assertThat(recover(client, asking(key))).isEqualTo(ofRequestId.thing());
      }
      for (String key : List.of(id, "id:" + id.toLowerCase(Locale.ROOT))) {
        assertThat(recover(client, asking(key))).isEqualTo(ofId.thing());
      }
      assertThat(recover(client, asking("").setRequest(Any.pack(REQUEST))))
          .isEqualTo(ofContent.thing());
      assertThat(recover(client, asking("").setRequest(Any.pack(assigned))))
          .isEqualTo(ofId.thing());
      assertThat(recover(client, asking("e-1").setRequest(Any.pack(REQUEST))))
          .isEqualTo(ofEvent.thing());

      assertUnknown(client, asking("e-2"));
      assertUnknown(client, asking("").setRequest(Any.pack(Things.named("another thing"))));
      assertUnknown(client.as(UUID.randomUUID()), asking("").setRequest(Any.pack(REQUEST)));
      assertThat(refused(() -> recover(client, asking("").setRequest(Any.pack(ofEvent.thing())))))
          .hasMessageContaining("request is not a");
    }
  }

  private static ThingServer keyedFromOne(KeySource source) {
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.keyFrom(source))
        .withServices()
        .start();
  }

  private static RecoverRequest.Builder asking(String key) {
    return RecoverRequest.newBuilder()
        .setMethod(ThingServer.CREATE_THING.getFullMethodName())
        .setKey(key);
  }

  private static Thing recover(ThingClient client, RecoverRequest.Builder asked) throws Exception {
    return Things.recover(client, asked).getResponse().unpack(Thing.class);
  }

  private static void assertUnknown(ThingClient client, RecoverRequest.Builder asked) {
    assertThat(reason(refused(() -> recover(client, asked)))).isEqualTo("IDEMPOTENCY_KEY_UNKNOWN");
  }

  private static ThingServer keyedFrom(KeySource source) {
    return described(thing -> thing.keyFrom(source));
  }

  private static ThingServer described(UnaryOperator<ProcedureBuilder<Thing>> change) {
    return PostgresThingServer.on(database.app()).createThing(change).start();
  }

  private static CreateThingRequest withRequestId(String id) {
    return REQUEST.toBuilder().setRequestId(id).build();
  }

  private static CreateThingRequest ofThing(String id, String name) {
    return REQUEST.toBuilder().setThing(Thing.newBuilder().setId(id).setName(name)).build();
  }

  /** Asserts that a call is served, once, and its retry answered from the record. */
  private static Reply assertOnce(
      ThingServer server, ThingClient client, CreateThingRequest request) {
    int before = server.runs();
    Reply first = client.createThing(request);
    Reply retried = client.createThing(request);
    assertThat(first.isOk()).as(first.toString()).isTrue();
    assertThat(first.isReplay()).isFalse();
    assertThat(retried.isReplay()).isTrue();
    assertThat(retried.bytes()).isEqualTo(first.bytes());
    assertThat(retried.operation()).isEqualTo(first.operation());
    assertThat(server.runs()).isEqualTo(before + 1);
    return first;
  }

  private static void assertRefused(Reply reply, String reason) {
    assertThat(reply.reason()).as(reply.toString()).isEqualTo(reason);
    assertThat(reply.status().getCode())
        .isIn(Status.Code.INVALID_ARGUMENT, Status.Code.UNAUTHENTICATED);
    assertThat(reply.retryAfter()).isEmpty();
  }
}
