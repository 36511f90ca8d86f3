package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every way that a key can arrive, over the socket. */
class KeySourcesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @Test
  void theLongestKeyInTheWidestLettersAndTheLongestNamespaceIsKept() {
    String key = "\uFFFD".repeat(512);
    try (ThingServer server = server(KeySource.requestField("name"));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      ThingClient deep = client.in("t".repeat(63) + "/" + "p".repeat(63));

      Reply first = deep.createThing(Things.named(key));
      Reply retried = deep.createThing(Things.named(key));

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(retried.isReplay()).isTrue();
      assertThat(retried.operation()).isEqualTo(first.operation());
      assertThat(server.runs()).isEqualTo(1);
      assertThat(client.createThing(Things.named("a\0b")).reason())
          .isEqualTo("IDEMPOTENCY_KEY_INVALID");
      assertThat(server.events()).doesNotContain(Kind.UNPROTECTED);
    }
  }

  /** Each call is asked for by the value that its client has, and by the text of its key. */
  @Test
  void aCallIsRecoveredByTheValueThatItsClientHas() throws Exception {
    String id = "0193A0C4-7e5b-7cc1-9d6e-aabbccddeeff";
    String requestId = UUID.randomUUID().toString();
    try (ThingServer server =
            server(
                KeySource.firstOf(
                    KeySource.metadata("x-event").as(KeyFormat.opaque()).prefixed("event:"),
                    KeySource.requestId(),
                    KeySource.assignedId("thing.id"),
                    KeySource.content("name")));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      CreateThingRequest assigned =
          REQUEST.toBuilder().setThing(Thing.newBuilder().setId(id)).build();
      Reply ofEvent = client.with("x-event", "e-1").createThing(REQUEST);
      Reply ofRequestId = client.createThing(REQUEST.toBuilder().setRequestId(requestId).build());
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

  private static ThingServer server(KeySource source) {
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
}
