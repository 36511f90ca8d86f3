package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.test.Program.PGBOUNCER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.PgBouncer;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls whose servers reach PostgreSQL through a real PgBouncer that pools transactions. */
@NeedsProgram(PGBOUNCER)
class PgBouncerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final int SERVER_CONNECTIONS = 3;
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static PgBouncer pooler;

  private final KeyTable table = new KeyTable(database);

  private enum Form {
    RESERVED,
    COMPLETING,
    TRANSACTIONAL,
    AT_COMMIT;

    ThingServer start(HikariDataSource pool) {
      PostgresThingServer.Builder server = PostgresThingServer.on(pool);
      return switch (this) {
        case RESERVED -> server.start();
        case COMPLETING -> server.handler(ThingHandlers.completing(pool)).start();
        case TRANSACTIONAL -> server.transactional().start();
        case AT_COMMIT ->
            server.createThing(thing -> thing.claimAtCommit()).transactional().start();
      };
    }

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @BeforeAll
  static void startPooler() {
    pooler = PgBouncer.before(database.appUrl(), SERVER_CONNECTIONS);
  }

  @AfterAll
  static void stopPooler() {
    pooler.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "AT_COMMIT"})
  void manyUsersOnFewServerConnectionsEachGetTheirOwnAnswerAndOneThing(Form form) {
    Duration patience = Duration.ofSeconds(20); // no call is refused on a slow machine
    try (HikariDataSource leftPool = PostgresThingServer.pool(pooler.jdbcUrl(), patience);
        HikariDataSource rightPool = PostgresThingServer.pool(pooler.jdbcUrl(), patience);
        ThingServer left = form.start(leftPool);
        ThingServer right = form.start(rightPool);
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port())) {
      String key = UUID.randomUUID().toString();
      List<UUID> users = IntStream.range(0, 20).mapToObj(i -> UUID.randomUUID()).toList();
      List<CompletableFuture<Reply>> calls = new ArrayList<>();
      for (UUID user : users) {
        Stream.of(toLeft, toRight, toLeft)
            .map(client -> client.as(user).withKey(key).startThing(REQUEST))
            .forEach(calls::add);
      }
      calls.forEach(CompletableFuture::join);

      for (UUID user : users) {
        Reply replay = toRight.as(user).withKey(key).createThing(REQUEST);
        assertThat(replay.isReplay()).as(replay.toString()).isTrue();
        assertThat(table.thingsOf(user)).containsExactly(replay.thingId());
      }
      if (form != Form.AT_COMMIT) { // whose duplicates start handlers in vain
        assertThat(left.runs() + right.runs()).isEqualTo(users.size());
      }
      assertThat(usersLeftBehind(leftPool)).containsOnly("");
    }
  }

  @Tag("torture")
  @ParameterizedTest
  @EnumSource(names = {"COMPLETING", "TRANSACTIONAL"})
  void manyUsersOfOtherFormsOnFewServerConnectionsEachGetTheirOwnAnswer(Form form) {
    manyUsersOnFewServerConnectionsEachGetTheirOwnAnswerAndOneThing(form);
  }

  /** Returns the sessions' value of the user when none is set, on every server connection. */
  private static List<String> usersLeftBehind(HikariDataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    List<Handle> open = new ArrayList<>();
    try {
      List<String> users = new ArrayList<>();
      for (int i = 0; i < SERVER_CONNECTIONS; i++) {
        Handle handle = jdbi.open();
        open.add(handle);
        handle.begin(); // keeps its server connection, so that the next one gets another
        users.add(
            handle
                .createQuery("SELECT coalesce(current_setting('app.current_user_id', true), '')")
                .mapTo(String.class)
                .one());
      }
      return users;
    } finally {
      open.forEach(Handle::rollback);
      open.forEach(Handle::close);
    }
  }

  /** The pooler then says that there is an error, and hangs up. */
  @Tag("torture")
  @ParameterizedTest
  @CsvSource({
    "AT_COMMIT, INSERT INTO app.things, false",
    "AT_COMMIT, INSERT INTO app.things, true",
    "AT_COMMIT, COMMIT, false",
    "AT_COMMIT, COMMIT, true",
    "TRANSACTIONAL, COMMIT, true",
    "COMPLETING, COMMIT, false",
    "COMPLETING, COMMIT, true"
  })
  void aCallThatIsCutOffBehindThePoolerHasItsEffectOnce(Form form, String sql, boolean executed) {
    try (FaultProxy cutting = FaultProxy.before(database.appUrl());
        PgBouncer behind = PgBouncer.before(cutting.jdbcUrl(), SERVER_CONNECTIONS);
        HikariDataSource pool = PostgresThingServer.pool(behind.jdbcUrl());
        ThingServer server = form.start(pool);
        ThingClient client = ThingClient.to(server.port())) {
      FaultProxy.Trap cut = executed ? cutting.cutAfter(sql) : cutting.cutBefore(sql);

      Reply first = client.createThing(REQUEST);
      Reply last = Things.untilAnswered(client, REQUEST);

      assertThat(cut.hasSprung()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(last.thingId());
      assertThat(table.joined(client.user())).isTrue();
      assertThat(first.status().getCode())
          .as("that of a transaction that is known to be rolled back: %s", first)
          .isNotEqualTo(Status.Code.INTERNAL);
    }
  }

  @Test
  void aClaimTravelsThroughThePoolerWithItsCommit() {
    try (FaultProxy proxy = FaultProxy.before(pooler.jdbcUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server = Form.AT_COMMIT.start(pool);
        ThingClient client = ThingClient.to(server.port())) {
      client.as(UUID.randomUUID()).createThing(REQUEST);
      proxy.forgetRoundTrips();

      Reply first = client.createThing(REQUEST);
      List<String> sent = proxy.roundTrips();
      Reply duplicate = client.createThing(REQUEST);

      assertThat(sent).hasSize(3);
      assertThat(sent.get(0)).contains("BEGIN", "app.things");
      assertThat(sent.get(2))
          .contains("refuse_claim", "INSERT INTO idempotency.idempotency_keys", "COMMIT");
      assertThat(duplicate.isReplay()).isTrue();
      assertThat(duplicate.bytes()).isEqualTo(first.bytes());
      assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
    }
  }

  @Tag("torture")
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aServerKilledWhileItsHandlerRunsIsTakenOver(Form form) {
    try (Gate gate = Gate.shut(database.superuser());
        HikariDataSource pool = PostgresThingServer.pool(pooler.jdbcUrl());
        ServerProcess doomed =
            ServerProcess.start(
                PostgresThingServer.class,
                pooler.jdbcUrl(),
                Long.toString(LEASE.toMillis()),
                form.word());
        ThingServer survivor = form.start(pool);
        ThingClient toDoomed = ThingClient.to(Integer.parseInt(doomed.awaitLine("port")));
        ThingClient toSurvivor = ThingClient.to(survivor.port()).like(toDoomed)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> lost = toDoomed.startThing(request);
      gate.awaitWaiting(1);
      doomed.kill();
      assertThat(lost.join().isOk()).isFalse();
      gate.open();

      Reply retried = Things.untilAnswered(toSurvivor, request);

      assertThat(retried.isReplay()).isFalse();
      assertThat(table.thingsOf(toSurvivor.user())).containsExactly(retried.thingId());
    }
  }

  @Test
  @Tag("torture")
  void waitingDuplicatesPollForNotificationsDoNotArrive() {
    try (Gate gate = Gate.shut(database.superuser());
        FaultProxy proxy = FaultProxy.before(pooler.jdbcUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer left = attaching(pool, Optional.empty());
        ThingServer right = attaching(pool, Optional.empty());
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CompletableFuture<Reply> first = toLeft.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      proxy.forgetRoundTrips();
      CompletableFuture<Reply> duplicate = toRight.startThing(Things.waitingAt(gate));
      await().until(() -> polls(proxy) >= 5);
      gate.open();

      assertThat(duplicate.join().isReplay()).isTrue();
      assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
      assertThat(announcements(proxy)).isZero();
    }
  }

  @Test
  void aStoreWhoseConnectionsBypassThePoolerIsNotified() {
    try (Gate gate = Gate.shut(database.superuser());
        FaultProxy past = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(pooler.jdbcUrl());
        HikariDataSource direct = PostgresThingServer.pool(past.jdbcUrl());
        ThingServer left = attaching(pool, Optional.of(direct));
        ThingServer right = attaching(pool, Optional.of(direct));
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CompletableFuture<Reply> first = toLeft.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      past.forgetRoundTrips();
      CompletableFuture<Reply> duplicate = toRight.startThing(Things.waitingAt(gate));
      await("word that somebody listens").until(() -> announcements(past) > 0);
      gate.open();

      assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
    }
  }

  private static ThingServer attaching(
      HikariDataSource pool, Optional<HikariDataSource> connections) {
    PostgresThingServer.Builder server =
        PostgresThingServer.on(pool).createThing(thing -> thing.attach(Duration.ofMinutes(1)));
    connections.ifPresent(server::connections);
    return server.start();
  }

  private static long polls(FaultProxy proxy) {
    return proxy.roundTrips().stream().filter(sql -> sql.contains("idempotency.in_flight")).count();
  }

  private static long announcements(FaultProxy proxy) {
    return proxy.roundTrips().stream()
        .filter(sql -> sql.contains("INSERT INTO idempotency.idempotency_waits"))
        .count();
  }
}
