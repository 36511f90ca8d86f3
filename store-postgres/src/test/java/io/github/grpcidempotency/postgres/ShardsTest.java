package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.ShardedStore;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One service whose callers live on two database servers. */
class ShardsTest {
  @RegisterExtension static final TestDatabase east = TestDatabase.create();

  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final Map<UUID, String> homes = new ConcurrentHashMap<>();
  private final Journal journal = new Journal();
  private final CountDownLatch end = new CountDownLatch(1);

  @Test
  void aKilledDatabaseTakesDownItsOwnCallersOnly(@TempDir Path data) {
    KillablePostgres server = KillablePostgres.in(data);
    try (TestDatabase west = TestDatabase.in(server.server());
        HikariDataSource eastPool = PostgresThingServer.pool(east.appUrl());
        HikariDataSource westPool = PostgresThingServer.pool(west.appUrl());
        ThingServer things = serve(eastPool, westPool);
        ThingClient alice = ThingClient.to(things.port());
        ThingClient bob = ThingClient.to(things.port())) {
      homes.putAll(Map.of(alice.user(), "east", bob.user(), "west"));
      Reply inEast = alice.createThing(REQUEST);
      Reply inWest = bob.createThing(REQUEST);

      assertThat(thingsOf(alice, east, west)).containsExactly(List.of(inEast.thingId()), List.of());
      assertThat(thingsOf(bob, east, west)).containsExactly(List.of(), List.of(inWest.thingId()));
      assertThat(OperationsClient.of(bob).get(operation(inWest)).getDone()).isTrue();
      assertThat(journal.claimedOn).containsExactly("east", "west");

      CompletableFuture<Reply> slowInEast = startSlowly(alice);
      CompletableFuture<Reply> slowInWest = startSlowly(bob);
      await().until(() -> things.runs() == 4);
      server.kill();

      await().until(() -> journal.failedOn.contains("west"));
      long renewals = journal.renewalsOn("east");
      assertThat(createAtOnce(alice, 20)).allMatch(Reply::isOk);
      int runs = things.runs();
      Reply refused = bob.createThing(REQUEST);
      assertThat(refused.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(refused.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
      assertThat(things.runs()).isEqualTo(runs);
      Reply again = alice.createThing(REQUEST);
      assertThat(again.isReplay()).isTrue();
      assertThat(again.bytes()).isEqualTo(inEast.bytes());
      assertThat(OperationsClient.of(alice).get(operation(inEast)).getDone()).isTrue();

      await().until(() -> journal.renewalsOn("east") > renewals + 3);
      assertThat(journal.failedOn).containsOnly("west");
      assertThat(journal.renewed).allMatch(renewal -> renewal.lost() == 0);
      end.countDown();
      assertThat(slowInEast.join().isOk()).as(slowInEast.join().toString()).isTrue();
      assertThat(slowInWest.join().status().getCode()).isEqualTo(Status.Code.ABORTED);
    } finally {
      end.countDown();
      server.close();
    }
  }

  @Test
  void aCallerWithoutAShardIsRefusedWithAKeyAndWithout() {
    try (ThingServer things = serve(east.app(), east.app());
        ThingClient stranger = ThingClient.to(things.port())) {
      Reply keyed = stranger.createThing(REQUEST);
      Reply unkeyed = stranger.withoutKey().createThing(REQUEST);

      assertThat(keyed.reasonMetadata()).containsEntry("cause", "no_shard");
      assertThat(unkeyed.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      assertThat(things.runs()).isZero();
    }
  }

  @Test
  void aHandlerThatCompletesOnAnotherShardLeavesNothing() {
    List<RuntimeException> thrown = new CopyOnWriteArrayList<>();
    ThingHandler wrong = ThingHandlers.completing(east.app());
    try (TestDatabase west = TestDatabase.create();
        ThingServer things =
            ThingServer.on(Transport.LOOPBACK)
                .store(sharded(store(east).build(), store(west).build()))
                .handler(
                    (request, answer) -> {
                      try {
                        wrong.create(request, answer);
                      } catch (RuntimeException lost) {
                        thrown.add(lost);
                        throw lost;
                      }
                    })
                .start();
        ThingClient bob = ThingClient.to(things.port())) {
      homes.put(bob.user(), "west");

      assertThat(bob.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);

      assertThat(thrown).hasSize(1).hasOnlyElementsOfType(ClaimLostException.class);
      assertThat(thingsOf(bob, east, west)).containsOnly(List.of());
      assertThat(new KeyTable(east).rowsOf(bob.user())).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void oneShardMayRunInTransactionsOfTheHost(ClaimTiming timing) {
    try (TestDatabase west = TestDatabase.create();
        ThingServer things =
            ThingServer.on(Transport.LOOPBACK)
                .store(
                    sharded(
                        store(east)
                            .hostTransactions(new ThreadTransactions(east.app(), true))
                            .build(),
                        store(west).build()))
                .createThing(thing -> thing.execution(Execution.TRANSACTIONAL).claim(timing))
                .handler(ThingHandlers.transactional())
                .start();
        ThingClient alice = ThingClient.to(things.port());
        ThingClient bob = ThingClient.to(things.port())) {
      homes.putAll(Map.of(alice.user(), "east", bob.user(), "west"));
      for (ThingClient client : List.of(alice, bob)) {
        Reply first = client.createThing(REQUEST);
        assertThat(first.isOk()).as(first.toString()).isTrue();
        assertThat(client.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
      }
      assertThat(new KeyTable(east).joined(alice.user())).isTrue();
      assertThat(new KeyTable(west).joined(bob.user())).isTrue();
    }
  }

  @Test
  void databasesThatAreMixedUpAreRefused() {
    try (TestDatabase west = TestDatabase.create()) {
      mark(east, "east");
      mark(west, "west");
      sharded(store(east).build(), store(west).build()).verify(List.of());

      assertThatExceptionOfType(SetupException.class)
          .isThrownBy(() -> sharded(store(west).build(), store(east).build()).verify(List.of()))
          .satisfies(
              refused ->
                  assertThat(refused.problems())
                      .containsExactly(
                          "shard east: its database is marked as shard west",
                          "shard west: its database is marked as shard east"));
    }
  }

  /** Lets a database say which shard it is. */
  static void mark(TestDatabase database, String name) {
    String ofEast =
        """
        COMMENT ON SCHEMA idempotency IS 'shard east';
        """;
    Jdbi.create(database.owner())
        .useHandle(handle -> handle.execute(ofEast.replace("shard east", "shard " + name)));
  }

  private static PostgresIdempotencyStore.Builder store(TestDatabase database) {
    return PostgresIdempotencyStore.builder(database.app());
  }

  private ShardedStore sharded(IdempotencyStore eastStore, IdempotencyStore westStore) {
    return ShardedStore.builder(this::homeOf)
        .shard("east", eastStore)
        .shard("west", westStore)
        .build();
  }

  @Test
  void thePageShowsWhatIsTestedHere() throws IOException {
    assertThat(Snippets.of(Path.of("..", "docs", "how-to", "shards.md")))
        .hasSize(2)
        .allMatch(
            snippet ->
                Snippets.isCutFrom(
                    snippet,
                    Path.of("src/test/java/io/github/grpcidempotency/postgres/ShardsTest.java")));
  }

  private ThingServer serve(DataSource eastPool, DataSource westPool) {
    ShardedStore store =
        ShardedStore.builder(this::homeOf)
            .shard("east", PostgresIdempotencyStore.builder(eastPool).lease(LEASE).build())
            .shard("west", PostgresIdempotencyStore.builder(westPool).lease(LEASE).build())
            .build();
    return ThingServer.on(Transport.LOOPBACK)
        .store(store)
        .createThing(thing -> thing.execution(Execution.TRANSACTIONAL))
        .handler(ThingHandlers.transactional())
        .describe(
            Procedure.of(ThingServer.CREATE_OTHER)
                .execution(Execution.RESERVED)
                .outage(OutagePolicy.FAIL_CLOSED)
                .build())
        .otherHandler(this::answerLate)
        .withServices()
        .listener(journal)
        .start();
  }

  private Optional<String> homeOf(Caller caller) {
    return Optional.ofNullable(homes.get(caller.userId()));
  }

  private void answerLate(CreateThingRequest request, StreamObserver<Thing> answer) {
    try {
      end.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    ThingHandler.answer(request, answer);
  }

  private static CompletableFuture<Reply> startSlowly(ThingClient client) {
    return CompletableFuture.supplyAsync(() -> client.withNewKey().createOther(REQUEST));
  }

  private static List<Reply> createAtOnce(ThingClient client, int calls) {
    List<CompletableFuture<Reply>> replies =
        IntStream.range(0, calls)
            .mapToObj(call -> client.withNewKey().startThing(REQUEST))
            .toList();
    return replies.stream().map(CompletableFuture::join).toList();
  }

  private static Stream<List<UUID>> thingsOf(ThingClient client, TestDatabase... databases) {
    return Stream.of(databases).map(database -> new KeyTable(database).thingsOf(client.user()));
  }

  private static String operation(Reply reply) {
    return reply.operation().orElseThrow();
  }

  /** What is heard of the shards. */
  private static final class Journal implements IdempotencyListener {
    private final List<String> claimedOn = new CopyOnWriteArrayList<>();
    private final List<String> failedOn = new CopyOnWriteArrayList<>();
    private final List<IdempotencyEvent.LeasesRenewed> renewed = new CopyOnWriteArrayList<>();

    @Override
    public void claimed(IdempotencyEvent.Claimed event) {
      claimedOn.add(event.call().shard().orElse("none"));
    }

    @Override
    public void leasesRenewed(IdempotencyEvent.LeasesRenewed event) {
      renewed.add(event);
    }

    @Override
    public void renewalFailed(IdempotencyEvent.RenewalFailed event) {
      failedOn.add(event.shard().orElse("none"));
    }

    long renewalsOn(String shard) {
      return renewed.stream().filter(event -> event.shard().equals(Optional.of(shard))).count();
    }
  }
}
