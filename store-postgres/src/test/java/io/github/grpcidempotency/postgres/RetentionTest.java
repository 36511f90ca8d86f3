package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.RetentionClass;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * How long a record answers retries, by the database's clock, and what the client learns about it.
 */
class RetentionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Duration RETENTION = Duration.ofHours(1);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static Stream<Arguments> retentions() {
    return Stream.of(Execution.values())
        .flatMap(
            execution ->
                Stream.concat(
                        Stream.of(
                                RetentionClass.INTERACTIVE,
                                RetentionClass.WEBHOOK,
                                RetentionClass.FINANCIAL)
                            .map(RetentionClass::duration),
                        Stream.of(Duration.ofMillis(90_001)))
                    .map(retention -> Arguments.of(execution, retention)));
  }

  @ParameterizedTest
  @MethodSource("retentions")
  void aRecordLastsAsLongAsItsProcedureSaysAndTheClientGetsItsExpiry(
      Execution execution, Duration retention) {
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

  @ParameterizedTest
  @EnumSource
  void aChangeWhileTheServerRunsCountsForKeysToCome(Execution execution) {
    AtomicReference<Duration> retention = new AtomicReference<>(Duration.ofHours(1));
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(retention::get))
                .execution(execution)
                .start();
        ThingClient before = ThingClient.to(server.port())) {
      Reply old = before.createThing(REQUEST);
      retention.set(Duration.ofDays(7));
      ThingClient after = before.as(UUID.randomUUID());

      after.createThing(REQUEST);

      assertThat(row(before.user()).retention()).isEqualTo(Duration.ofHours(1));
      assertThat(row(after.user()).retention()).isEqualTo(Duration.ofDays(7));
      assertThat(before.createThing(REQUEST).expires()).isEqualTo(old.expires());
    }
  }

  /** The client gets the expiry that is recorded, whatever changes in between. */
  @ParameterizedTest
  @EnumSource
  void aCallKeepsTheRetentionThatItBeganWith(Execution execution) {
    AtomicReference<Duration> retention = new AtomicReference<>(Duration.ofHours(1));
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(retention::get))
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      CompletableFuture<Reply> running = client.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      retention.set(Duration.ofDays(7));
      gate.open();

      assertThat(running.join().expires().map(Instant::parse))
          .contains(row(client.user()).expires());
      assertThat(row(client.user()).retention()).isEqualTo(Duration.ofHours(1));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReplayWhoseRetentionCannotBeExtendedIsStillAReplay(Execution execution) {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing
                            .retention(RETENTION)
                            .retainFromLastReplay()
                            .outage(
                                execution == Execution.TRANSACTIONAL
                                    ? OutagePolicy.FAIL_CLOSED
                                    : OutagePolicy.FAIL_OPEN))
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);
      letPass(client.user(), Duration.ofMinutes(59));
      Instant expires = row(client.user()).expires();
      superuser("REVOKE UPDATE ON idempotency.idempotency_keys FROM things_app");
      try {
        Reply replay = client.createThing(REQUEST);

        assertThat(replay.isReplay()).isTrue();
        assertThat(replay.bytes()).isEqualTo(first.bytes());
        assertThat(replay.expires().map(Instant::parse)).contains(expires);
        assertThat(server.runs()).isEqualTo(1);
      } finally {
        superuser("SELECT idempotency.grant_to('things_app')");
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRefusedCallExtendsNoRetention(Execution execution) {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing
                            .retention(RETENTION)
                            .retainFromLastReplay()
                            .guard((caller, resource) -> false))
                .execution(execution)
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

  private static void superuser(String statement) {
    database.superuser().useHandle(handle -> handle.createUpdate(statement).execute());
  }

  @ParameterizedTest
  @EnumSource
  void countedFromTheLastReplayARecordLastsAsLongAsItIsAskedFor(Execution execution) {
    Duration retention = Duration.ofHours(1);
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(retention).retainFromLastReplay())
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      letPass(client.user(), Duration.ofMinutes(59));
      Instant asked = now();

      Reply replay = client.createThing(REQUEST);

      Row row = row(client.user());
      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.expires().map(Instant::parse)).contains(row.expires());
      assertThat(row.expires()).isBetween(asked.plus(retention), now().plus(retention));
    }
  }

  @ParameterizedTest
  @EnumSource
  void countedFromItsCreationARecordIsNotProlongedByReplays(Execution execution) {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(Duration.ofHours(1)))
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      letPass(client.user(), Duration.ofMinutes(59));
      Instant expires = row(client.user()).expires();

      Reply replay = client.createThing(REQUEST);
      letPass(client.user(), Duration.ofMinutes(1));
      Reply afterwards = client.createThing(REQUEST);

      assertThat(replay.isReplay()).isTrue();
      assertThat(replay.expires().map(Instant::parse)).contains(expires);
      assertThat(afterwards.isReplay()).isFalse();
      assertThat(server.runs()).isEqualTo(2);
    }
  }

  @Test
  void aSettingThatTurnsBadStopsNoCallAndFreesNoKey() {
    AtomicReference<Duration> retention = new AtomicReference<>(Duration.ofHours(1));
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.retention(retention::get))
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      retention.set(Duration.ZERO);

      client.createThing(REQUEST);

      assertThat(row(client.user()).retention()).isEqualTo(Duration.ofHours(1));
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();
    }
  }

  private record Row(Instant created, Instant expires) {
    Duration retention() {
      return Duration.between(created, expires);
    }
  }

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

  private static Instant now() {
    return new KeyTable(database).now().toInstant();
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
