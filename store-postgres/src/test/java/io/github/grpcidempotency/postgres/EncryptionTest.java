package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an attacker who can read and write every row of the table cannot do. */
class EncryptionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String SECRET = "a secret that nobody else shall read";
  private static final CreateThingRequest REQUEST = Things.named(SECRET);
  private static final String CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod().getFullMethodName();

  private final Keyset keyset = Keyset.create();

  /** Without encryption each of these would be a replay. */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void anAnswerMovedToAnotherUserKeyOrProcedureIsNotOpened(Execution execution) {
    try (ThingServer server = sealing(keyset, execution);
        ThingClient alice = ThingClient.to(server.port())) {
      ThingClient bob = alice.as(UUID.randomUUID());
      ThingClient otherKey = alice.withNewKey();
      ThingClient inTenant = alice.in("acme");
      Reply first = alice.createThing(REQUEST);
      assertThat(kept(alice.user()).toStringUtf8()).doesNotContain(SECRET);

      move("user_uuid = CAST(? AS uuid)", bob.user().toString(), alice.user());
      assertUnreadable(bob.createThing(REQUEST));
      move("user_uuid = CAST(? AS uuid)", alice.user().toString(), bob.user());

      move("idempotency_key = ?", otherKey.key(), alice.user());
      assertUnreadable(otherKey.createThing(REQUEST));
      move("idempotency_key = ?", alice.key(), alice.user());

      move("tenant = ?", "acme", alice.user());
      assertUnreadable(inTenant.createThing(REQUEST));
      move("tenant = ?", "", alice.user());

      move("procedure = ?", CREATE_OTHER, alice.user());
      assertUnreadable(alice.createOther(REQUEST));
      move("procedure = ?", Things.CREATE_THING.name(), alice.user());

      Reply replay = alice.createThing(REQUEST);
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.bytes()).isEqualTo(first.bytes());
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  @Test
  void aServerWhoseKeysetCannotOpenTheRecordsIsStoppedAtItsStart() {
    database.execute("DELETE FROM idempotency.idempotency_keys");
    try (ThingServer server = sealing(keyset, Execution.RESERVED);
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
    }
    Keyset other = Keyset.create();

    assertThatThrownBy(() -> start(other.refusing()).close())
        .isInstanceOf(SetupException.class)
        .hasMessageContaining(Things.CREATE_THING.name())
        .hasMessageContaining("encrypted with the key " + keyset.id())
        .hasMessageContaining("(it contains %s)".formatted(other.id()));
    start(other.protection()).close(); // warns
    start(keyset.refusing()).close();
  }

  private static ThingServer start(ResponseProtection protection) {
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.protect(protection))
        .start();
  }

  private static ThingServer sealing(Keyset keyset, Execution execution) {
    ResponseProtection protection = keyset.protection();
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.protect(protection))
        .createOther(other -> other.protect(protection))
        .execution(execution)
        .start();
  }

  private static void assertUnreadable(Reply reply) {
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(reply.reason()).isEqualTo("IDEMPOTENCY_RECORD_UNREADABLE");
    assertThat(reply.description())
        .isEqualTo("the call was answered before, but its recorded answer cannot be read");
    assertThat(reply.retryAfter()).isEmpty();
    assertThat(reply.bytes()).isEmpty();
  }

  /** Changes the columns of a user's row, as only a superuser can. */
  private static void move(String assignment, String value, UUID user) {
    assertThat(
            database.execute(
                "UPDATE idempotency.idempotency_keys SET " + assignment + " WHERE user_uuid = ?",
                value,
                user))
        .isEqualTo(1);
  }

  /** Returns the bytes that are kept of a user's only answer. */
  private static ByteString kept(UUID user) {
    return ByteString.copyFrom(
        database.one(
            byte[].class,
            "SELECT COALESCE(response_bytes, status_bytes)"
                + " FROM idempotency.idempotency_keys WHERE user_uuid = ?",
            user));
  }
}
