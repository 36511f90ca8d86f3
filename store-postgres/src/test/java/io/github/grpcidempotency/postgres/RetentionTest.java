package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How long a record answers retries, by the database's clock, and what the client learns about it.
 */
class RetentionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Duration RETENTION = Duration.ofHours(1);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aRecordLastsAsLongAsItsProcedureSaysAndTheClientGetsItsExpiry(Execution execution) {
    Duration retention = Duration.ofMillis(90_001);
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(retention))
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);
      Reply replay = client.createThing(REQUEST);

      Row row = row(client.user());
      assertThat(Duration.between(row.created(), row.expires())).isEqualTo(retention);
      assertThat(first.expires().map(Instant::parse)).contains(row.expires());
      assertThat(replay.expires()).isEqualTo(first.expires());
    }
  }

  @Test
  void aRefusedCallExtendsNoRetention() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing
                            .retention(RETENTION)
                            .retainFromLastReplay()
                            .guard((caller, resource) -> false))
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      letPass(client.user(), Duration.ofMinutes(59));
      Instant expires = row(client.user()).expires();

      assertThat(client.createThing(REQUEST).isOk()).isFalse();
      assertThat(client.createThing(Things.named("another")).reason()).isEqualTo(Things.KEY_REUSED);

      assertThat(row(client.user()).expires()).isEqualTo(expires);
    }
  }

  private record Row(Instant created, Instant expires) {}

  private static Row row(UUID user) {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT created, expires FROM idempotency.idempotency_keys"
                            + " WHERE user_id = :user")
                    .bind("user", user)
                    .map(
                        (row, context) ->
                            new Row(
                                row.getObject("created", OffsetDateTime.class).toInstant(),
                                row.getObject("expires", OffsetDateTime.class).toInstant()))
                    .one());
  }

  /** Lets a user's record be as old as if so much time had passed since. */
  private static void letPass(UUID user, Duration time) {
    database
        .superuser()
        .useHandle(
            handle ->
                handle
                    .createUpdate(
                        """
                        UPDATE idempotency.idempotency_keys
                           SET created = created - :seconds * interval '1 second',
                               completed = completed - :seconds * interval '1 second',
                               expires = expires - :seconds * interval '1 second'
                         WHERE user_id = :user
                        """)
                    .bind("seconds", time.toSeconds())
                    .bind("user", user)
                    .execute());
  }
}
