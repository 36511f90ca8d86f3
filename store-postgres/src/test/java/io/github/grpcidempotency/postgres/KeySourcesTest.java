package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.ScheduleKey;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way that a key can arrive, over the socket. */
class KeySourcesTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final String KEY_INVALID = "IDEMPOTENCY_KEY_INVALID";
  private static final String UUID_7 = "0193a0c4-7e5b-7cc1-9d6e-aabbccddeeff";

  private final KeyTable table = new KeyTable(database);

  @Test
  void aHeaderOfAnotherName() {
    try (ThingServer server = keyedFrom(KeySource.metadata("x-delivery").as(KeyFormat.opaque()));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      ThingClient delivery = client.with("x-delivery", "d-1");

      assertOnce(server, delivery, REQUEST);

      assertThat(client.with("x-delivery", "d-2").createThing(REQUEST).isReplay()).isFalse();
      assertRefused(client.createThing(REQUEST), "IDEMPOTENCY_KEY_REQUIRED");
      assertRefused(client.withNewKey().createThing(REQUEST), "IDEMPOTENCY_KEY_REQUIRED");
      assertRefused(client.with("x-delivery", "d 3").createThing(REQUEST), KEY_INVALID);
      assertRefused(client.with("x-delivery", "").createThing(REQUEST), KEY_INVALID);
      assertThat(server.runs()).isEqualTo(2);
    }
  }

  /** With what the client itself sends under the standard name, the header has two values. */
  @Test
  void aHeaderWithTwoValuesIsMalformed() {
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      for (String second : List.of(client.key(), UUID_7)) {
        assertRefused(client.with("idempotency-key", second).createThing(REQUEST), KEY_INVALID);
      }
      assertThat(server.runs()).isZero();
    }
  }

  @Test
  void aFieldOfTheRequest() {
    try (ThingServer server =
            keyedFrom(KeySource.requestField("thing.name").as(KeyFormat.opaque()));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      assertOnce(server, client, ofThing("", "order-7"));
      assertRefused(
          client.createThing(ofThing("", "order-7").toBuilder().setName("other").build()),
          Things.KEY_REUSED);
      assertRefused(client.createThing(ofThing("", "")), "IDEMPOTENCY_KEY_REQUIRED");
      assertRefused(client.createThing(REQUEST), "IDEMPOTENCY_KEY_REQUIRED");
      assertRefused(client.createThing(ofThing("", "order 7")), KEY_INVALID);
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  @Test
  void theRequestIdOfAip155MustBeRandom() {
    String random = UUID.randomUUID().toString();
    try (ThingServer server = keyedFrom(KeySource.requestId());
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      Reply first = assertOnce(server, client, withRequestId(random));

      assertRefused(client.createThing(withRequestId(UUID_7)), KEY_INVALID);
      assertRefused(client.createThing(withRequestId("no-uuid")), KEY_INVALID);
      assertRefused(client.createThing(REQUEST), "IDEMPOTENCY_KEY_REQUIRED");
      assertThat(first.isOk()).isTrue();
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  /** A service that chooses ids learns from the answer whether it has sent this one before. */
  @ParameterizedTest
  @EnumSource
  void anIdThatTheCallerHasMintedForTheNewResource(Execution execution) {
    UUID minted = UUID.randomUUID();
    try (ThingServer left = assigning(execution);
        ThingServer right = assigning(execution);
        ThingClient toLeft = ThingClient.to(left.port()).withoutKey();
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = ofThing(minted.toString(), "");

      Reply created = toLeft.createThing(request);
      Reply existing = toRight.createThing(request);

      assertThat(created.isOk()).as(created.toString()).isTrue();
      assertThat(created.isReplay()).isFalse();
      assertThat(existing.isReplay()).isTrue();
      assertThat(created.thingId()).isEqualTo(minted);
      assertThat(existing.thingId()).isEqualTo(minted);
      assertThat(table.thingsOf(toLeft.user())).containsExactly(minted);
      assertRefused(
          toRight.createThing(request.toBuilder().setName("other").build()), Things.KEY_REUSED);
      assertRefused(toRight.createThing(ofThing("not-a-uuid", "")), KEY_INVALID);
      assertRefused(toRight.createThing(ofThing("", "")), "IDEMPOTENCY_KEY_REQUIRED");
      assertThat(left.runs() + right.runs()).isEqualTo(1);
    }
  }

  @Test
  void theContentForCallersThatCannotSendAKey() {
    try (ThingServer server = keyedFrom(KeySource.content("name", "labels"));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      CreateThingRequest labelled =
          REQUEST.toBuilder().putLabels("a", "1").putLabels("b", "2").build();

      assertOnce(server, client, labelled);

      assertThat(
              client
                  .createThing(REQUEST.toBuilder().putLabels("b", "2").putLabels("a", "1").build())
                  .isReplay())
          .isTrue();
      assertThat(client.createThing(REQUEST).isReplay()).isFalse();
      assertRefused(
          client.createThing(labelled.toBuilder().setRequestId("not chosen").build()),
          Things.KEY_REUSED);
      assertThat(client.as(UUID.randomUUID()).createThing(labelled).isReplay()).isFalse();
      assertRefused(client.withoutUser().createThing(labelled), "IDEMPOTENCY_CALLER_REQUIRED");
      assertThat(server.runs()).isEqualTo(3);
    }
  }

  @Test
  void aScheduleKeyIsTheSameForEverySpellingOfItsInstant() {
    String key = ScheduleKey.of("close-month", Instant.parse("2026-12-01T00:00:00Z"));
    try (ThingServer server =
            keyedFrom(KeySource.metadata("idempotency-key").as(KeyFormat.schedule()));
        ThingClient client = ThingClient.to(server.port()).withKey(key)) {
      assertOnce(server, client, REQUEST);
      assertThat(client.withKey(key.replace("00Z", "00.000Z")).createThing(REQUEST).isReplay())
          .isTrue();
      assertRefused(client.withKey("sched:close-month").createThing(REQUEST), KEY_INVALID);
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  @Test
  void theFirstSourceThatFindsAKeyCountsAndPrefixesKeepThemApart() {
    KeySource source =
        KeySource.firstOf(
            KeySource.metadata("x-event").as(KeyFormat.opaque()).prefixed("event:"),
            KeySource.metadata("x-job").as(KeyFormat.opaque()).prefixed("job:"),
            KeySource.requestId());
    try (ThingServer server = keyedFrom(source);
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      ThingClient event = client.with("x-event", "1");
      ThingClient job = client.with("x-job", "1");

      Reply ofEvent = assertOnce(server, event, REQUEST);
      Reply ofJob = job.createThing(REQUEST);

      assertThat(ofJob.isReplay()).isFalse();
      assertThat(event.with("x-job", "1").createThing(REQUEST).bytes()).isEqualTo(ofEvent.bytes());
      assertThat(job.createThing(withRequestId(UUID.randomUUID().toString())).reason())
          .isEqualTo(Things.KEY_REUSED);
      assertThat(client.createThing(withRequestId(UUID.randomUUID().toString())).isReplay())
          .isFalse();
      assertRefused(client.createThing(REQUEST), "IDEMPOTENCY_KEY_REQUIRED");
      assertThat(server.runs()).isEqualTo(3);
    }
  }

  /** A malformed key is no reason to look for another one: the client meant the first. */
  @Test
  void aMalformedKeyIsNotSkippedForTheNextSource() {
    KeySource source =
        KeySource.firstOf(
            KeySource.metadata("idempotency-key").as(KeyFormat.uuid()), KeySource.requestId());
    try (ThingServer server = keyedFrom(source);
        ThingClient client = ThingClient.to(server.port()).withKey("no-uuid")) {
      assertRefused(client.createThing(withRequestId(UUID.randomUUID().toString())), KEY_INVALID);
      assertThat(server.runs()).isZero();
    }
  }

  @Test
  void aUuidIsTheSameInCapitals() {
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port()).withKey(UUID_7)) {
      assertOnce(server, client, REQUEST);
      assertThat(client.withKey(UUID_7.toUpperCase(Locale.ROOT)).createThing(REQUEST).isReplay())
          .isTrue();
    }
  }

  @Test
  void anOpaqueKeyKeepsItsCase() {
    try (ThingServer server = described(thing -> thing.keyFormat(KeyFormat.opaque()));
        ThingClient client = ThingClient.to(server.port()).withKey("a.b_c~d-E")) {
      assertOnce(server, client, REQUEST);
      assertThat(client.withKey("a.b_c~d-e").createThing(REQUEST).isReplay()).isFalse();
      assertRefused(client.withKey("k".repeat(256)).createThing(REQUEST), KEY_INVALID);
      assertRefused(client.withKey("a:b").createThing(REQUEST), KEY_INVALID);
    }
  }

  @Test
  void aPatternOfOnesOwn() {
    try (ThingServer server =
            described(
                thing -> thing.keyFormat(KeyFormat.matching(Pattern.compile("[A-Z]{2}-\\d+"))));
        ThingClient client = ThingClient.to(server.port()).withKey("AB-17")) {
      assertOnce(server, client, REQUEST);
      assertRefused(client.withKey("AB-17x").createThing(REQUEST), KEY_INVALID);
    }
  }

  /** An index could not hold the longest of these, and a failing claim is served as an outage. */
  @ParameterizedTest
  @ValueSource(ints = {513, 9_000})
  void aKeyThatIsTooLongForTheIndexIsMalformedAndNotAnOutage(int length) {
    try (ThingServer server = keyedFrom(KeySource.requestField("name"));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      String noise =
          new Random(1)
              .ints(length, 'a', 'z' + 1)
              .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
              .toString();

      assertRefused(client.createThing(Things.named(noise)), KEY_INVALID);

      assertThat(server.runs()).isZero();
      assertThat(server.events()).doesNotContain("unprotected FAILED_OPEN");
    }
  }

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
    return RecoveryGrpc.newBlockingStub(client.channel())
        .recover(asked.build())
        .getResponse()
        .unpack(Thing.class);
  }

  private static void assertUnknown(ThingClient client, RecoverRequest.Builder asked) {
    assertThat(reason(refused(() -> recover(client, asked)))).isEqualTo("IDEMPOTENCY_KEY_UNKNOWN");
  }

  @Test
  void aKeyMayBeOptionalWhereverItComesFrom() {
    try (ThingServer server =
            described(thing -> thing.keyPolicy(KeyPolicy.OPTIONAL).keyFrom(KeySource.requestId()));
        ThingClient client = ThingClient.to(server.port()).withoutKey()) {
      Reply unkeyed = client.createThing(REQUEST);

      assertThat(unkeyed.isOk()).isTrue();
      assertThat(unkeyed.operation()).isEmpty();
      assertOnce(server, client, withRequestId(UUID.randomUUID().toString()));
      assertThat(server.runs()).isEqualTo(2);
    }
  }

  private static ThingServer keyedFrom(KeySource source) {
    return described(thing -> thing.keyFrom(source));
  }

  private static ThingServer described(UnaryOperator<ProcedureBuilder<Thing>> change) {
    return PostgresThingServer.on(database.app()).createThing(change).start();
  }

  private static ThingServer assigning(Execution execution) {
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.keyFrom(KeySource.assignedId("thing.id")))
        .execution(execution)
        .start();
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
