package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is left of a transactional call after a fault. */
class TransactionFaultTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final String CLAIM = "pg_try_advisory_xact_lock";
  private static final String EFFECT = "INSERT INTO app.things";
  private static final String COMMIT = "COMMIT";
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  /** Outlasts any test: nothing here is to be had by waiting for a lease to end. */
  private static final Duration LEASE = Duration.ofMinutes(5);

  private static final FaultProxy proxy = FaultProxy.before(database.appUrl());
  private static final HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
  private static final ThingServer server =
      PostgresThingServer.on(proxied).lease(LEASE).transactional().start();

  private final KeyTable table = new KeyTable(database);
  private final ThingClient client = ThingClient.on(server.channel());
  private final int before = server.runs();

  @AfterAll
  static void stop() {
    server.close();
    proxied.close();
    proxy.close();
  }

  @Test
  void aConnectionCutBeforeItsCommitLeavesNothingAndARetryRuns() {
    FaultProxy.Trap cut = proxy.cutBefore(COMMIT);

    Reply lost = client.createThing(REQUEST);
    assertThat(cut.hasSprung()).isTrue();
    assertThat(lost.status().getCode()).isEqualTo(Status.Code.ABORTED);
    assertThat(lost.reason()).isEqualTo(Things.IN_PROGRESS);
    assertThat(table.thingsOf(client.user())).isEmpty();

    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(retried.isReplay()).isFalse();
    assertThat(server.runs() - before).isEqualTo(2);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void aConnectionCutAfterItsCommitIsRetriedAndReplayed() {
    FaultProxy.Trap cut = proxy.cutAfter(COMMIT);

    Reply lost = client.createThing(REQUEST);
    assertThat(cut.hasSprung()).isTrue();
    assertThat(lost.status().getCode()).isEqualTo(Status.Code.ABORTED);
    assertThat(lost.retryAfter()).isPresent();

    Reply retried = client.createThing(REQUEST);
    assertThat(retried.isReplay()).isTrue();
    assertThat(server.runs() - before).isEqualTo(1);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void aCommitOfACallWithoutAKeyWhoseAnswerIsLostIsUnknown() {
    proxy.cutAfter(COMMIT);

    assertThat(client.withoutKey().createThing(REQUEST).status().getCode())
        .isEqualTo(Status.Code.UNKNOWN);

    assertThat(table.thingsOf(client.user())).hasSize(1);
  }

  @Test
  void aConnectionCutInTheHandlerLeavesNothingAndARetryRuns() {
    FaultProxy.Trap cut = proxy.cutAfter(EFFECT);

    assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.UNKNOWN);
    assertThat(cut.hasSprung()).isTrue();

    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
    assertThat(proxied.getHikariPoolMXBean().getActiveConnections()).isZero();
  }

  @Test
  void aClaimThatIsCutOffIsTriedAgain() {
    for (FaultProxy.Trap cut : List.of(proxy.cutBefore(CLAIM), proxy.cutAfter(CLAIM))) {
      // Cut off after it has won the lock, a claim is in its own way until the database notices.
      Reply reply = Things.untilAnswered(client, REQUEST);

      assertThat(cut.hasSprung()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(reply.thingId());
      table.clear();
      database.execute("TRUNCATE app.things CASCADE");
    }
  }

  @Test
  void withoutADatabaseEveryCallIsRefusedAndNoHandlerRuns() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server = PostgresThingServer.on(proxied).transactional().start();
        ThingClient client = ThingClient.to(server.port())) {
      proxied.getHikariPoolMXBean().softEvictConnections(); // nothing of a claim is ever sent
      proxy.refuse();

      Reply keyed = client.createThing(REQUEST);
      assertThat(keyed.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(keyed.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
      assertThat(client.withoutKey().createThing(REQUEST).status().getCode())
          .isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(server.runs()).isZero();

      proxy.restore();
      assertThat(Things.untilAnswered(client, REQUEST).isReplay()).isFalse();
    }
  }

  @Test
  void anAbandonedReservationIsDeletedOnlyByTheSameRequest() {
    IdempotencyStore olderServer = PostgresIdempotencyStore.builder(database.app()).build();
    try (ThingServer server = server().start();
        ThingClient client = ThingClient.to(server.port())) {
      Claim reserved = Things.win(olderServer, Things.claimOf(client, REQUEST));
      assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);

      table.endLeases(client.user());
      assertThat(client.createThing(Things.named("another")).reason()).isEqualTo(Things.KEY_REUSED);
      Reply reply = client.createThing(REQUEST);

      assertThat(reply.isOk()).isTrue();
      assertThat(table.rowsOf(client.user())).hasSize(1);
      assertThat(reserved.complete(Things.ANSWER)).isEqualTo(Claim.Settled.LOST);
      assertThat(client.createThing(REQUEST).bytes()).isEqualTo(reply.bytes());
    }
  }

  /** The handler keeps the call, as a future does that nobody completes. */
  @Test
  void aCancelledCallThatItsHandlerDoesNotAnswerGivesItsConnectionBack() {
    AtomicBoolean forget = new AtomicBoolean(true);
    Queue<StreamObserver<Thing>> forgotten = new ConcurrentLinkedQueue<>();
    ThingHandler forgetful =
        (request, answer) -> {
          if (forget.get()) {
            insert(ClaimJdbi.handle(), newThing(request));
            forgotten.add(answer);
          } else {
            ThingHandlers.transactional().create(request, answer);
          }
        };
    for (boolean keyed : List.of(true, false)) {
      try (ThingServer server =
              PostgresThingServer.on(database.app())
                  .lease(Duration.ofMillis(300))
                  .transactional(forgetful)
                  .start();
          ThingClient keyedClient = ThingClient.to(server.port())) {
        ThingClient client = keyed ? keyedClient : keyedClient.withoutKey();
        forget.set(true);
        CompletableFuture<Reply> call = client.startThing(REQUEST);
        await().until(() -> forgotten.size() == 1);
        call.cancel(true);

        await().until(() -> database.app().getHikariPoolMXBean().getActiveConnections() == 0);
        ThingHandler.answer(forgotten.remove(), Thing.getDefaultInstance());
        forget.set(false);
        Reply retried = Things.untilAnswered(client, REQUEST);
        assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
      }
    }
  }

  private static PostgresThingServer.Builder server() {
    return PostgresThingServer.on(database.app()).lease(LEASE).transactional();
  }
}
