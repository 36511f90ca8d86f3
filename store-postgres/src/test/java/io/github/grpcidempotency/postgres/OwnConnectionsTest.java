package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Handlers cannot keep the store from its connections. */
class OwnConnectionsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final int CALLS = 4;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration HELD = LEASE.plusSeconds(2);

  private final CountDownLatch allHold = new CountDownLatch(CALLS);
  private final CountDownLatch released = new CountDownLatch(1);

  @Test
  void handlersThatAnswerBeforeTheyCloseTheirConnectionsRunOnce() {
    ExecutorService clients = Executors.newFixedThreadPool(CALLS);
    try (HikariDataSource pool = database.newAppPool(CALLS);
        HikariDataSource anothersPool = database.newAppPool(CALLS);
        ThingServer server = start(pool);
        ThingServer another = start(anothersPool)) {
      CompletableFuture.allOf(
              IntStream.range(0, CALLS)
                  .mapToObj(
                      call -> CompletableFuture.runAsync(() -> create(server, another), clients))
                  .toArray(CompletableFuture[]::new))
          .join();

      assertThat(database.one(Integer.class, "SELECT count(*) FROM app.things")).isEqualTo(CALLS);
    } finally {
      released.countDown();
      clients.shutdownNow();
    }
  }

  /** A duplicate of another server's call makes the server listen for the end of that call. */
  @Test
  void aLeaseIsRenewedWhileTheServerListensAndHandlersHoldThePool() {
    try (Gate gate = Gate.shut(database.superuser());
        HikariDataSource small = database.newAppPool(2);
        ThingServer server = attaching(small);
        ThingServer another = attaching(database.app());
        ThingClient toServer = ThingClient.to(server.port());
        ThingClient toAnother = ThingClient.to(another.port()).like(toServer)) {
      CompletableFuture<Reply> others = toAnother.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      CompletableFuture<Reply> duplicate = toServer.startThing(Things.waitingAt(gate));
      ThingClient second = toServer.withNewKey();
      CompletableFuture<Reply> own = second.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(2);
      database.letPass(HELD);

      assertThat(toAnother.withKey(second.key()).within(LEASE).createThing(Things.waitingAt(gate)))
          .matches(reply -> !reply.isOk());
      gate.open();

      assertThat(own.join().isOk()).isTrue();
      assertThat(duplicate.join().bytes()).isEqualTo(others.join().bytes());
      assertThat(another.runs()).isEqualTo(1);
    }
  }

  @Test
  void aHandlerThatStillRunsWhenItsStoreIsClosedKeepsItsKeyAndIsRecorded() {
    try (Gate gate = Gate.shut(database.superuser());
        HikariDataSource pool = database.newAppPool(2);
        ThingServer another = PostgresThingServer.on(database.app()).lease(LEASE).start();
        ThingClient toAnother = ThingClient.to(another.port())) {
      ThingServer server = PostgresThingServer.on(pool).lease(LEASE).start();
      try (ThingClient toServer = ThingClient.to(server.port()).like(toAnother)) {
        CompletableFuture<Reply> cut = toServer.startThing(Things.waitingAt(gate));
        gate.awaitWaiting(1);
        server.close();
        assertThat(cut.join().isOk()).isFalse();
      }
      database.letPass(HELD);

      assertThat(toAnother.within(LEASE).createThing(Things.waitingAt(gate)).isOk()).isFalse();
      gate.open();

      assertThat(Things.untilAnswered(toAnother, Things.waitingAt(gate)).isOk()).isTrue();
      assertThat(another.runs()).isZero();
      Awaitility.await().until(() -> !hasStoreConnections(pool));
    }
  }

  /** Returns whether the pool that a store has derived from a pool still has a thread. */
  private static boolean hasStoreConnections(HikariDataSource pool) {
    String derived = pool.getPoolName() + "-idempotency";
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().startsWith(derived + ":housekeeper"));
  }

  private static ThingServer attaching(HikariDataSource pool) {
    return PostgresThingServer.on(pool)
        .lease(LEASE)
        .createThing(thing -> thing.attach(Duration.ofMinutes(1)))
        .start();
  }

  private ThingServer start(HikariDataSource pool) {
    return PostgresThingServer.on(pool).lease(LEASE).handler(answersInside(pool)).start();
  }

  /** Sends a call, and retries it on another server if there is no answer soon. */
  private static void create(ThingServer server, ThingServer another) {
    try (ThingClient client = ThingClient.to(server.port());
        ThingClient retrying =
            ThingClient.to(another.port()).as(client.user()).withKey(client.key())) {
      if (!client.within(HELD).createThing(Things.named("a thing")).isOk()) {
        Reply unused = Things.untilAnswered(retrying, Things.named("a thing"));
      }
    }
  }

  /** A handler that holds its connection until all handlers hold one, and after its answer. */
  private ThingHandler answersInside(HikariDataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = Things.caller();
      Thing thing = ThingHandler.newThing(request);
      try (Handle handle = jdbi.open()) {
        allHold.countDown();
        await(allHold);
        handle.useTransaction(own -> ThingHandlers.insert(own, user, thing));
        ThingHandler.answer(answer, thing);
        await(released);
      }
    };
  }

  private static void await(CountDownLatch latch) {
    try {
      boolean unused = latch.await(HELD.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }
}
