package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
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
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** One service whose callers live on two database servers. */
class ShardsTest {
  @RegisterExtension static final TestDatabase east = TestDatabase.create();

  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final Map<UUID, String> homes = new ConcurrentHashMap<>();
  private final Journal journal = new Journal();
  private final CountDownLatch end = new CountDownLatch(1);

  @Test
  void aKilledDatabaseTakesDownItsOwnCallersOnly(@TempDir Path data) throws IOException {
    EmbeddedPostgres server =
        EmbeddedPostgres.builder().setDataDirectory(data).setCleanDataDirectory(false).start();
    try (TestDatabase west = TestDatabase.in(server);
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
      kill(data);

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
  void thePageShowsWhatIsTestedHere() throws IOException {
    assertThat(Snippets.of(Path.of("..", "docs", "how-to", "shards.md")))
        .hasSize(1)
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
        .describe(Procedure.of(ThingServer.CREATE_OTHER).outage(OutagePolicy.FAIL_CLOSED).build())
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

  private static void kill(Path data) throws IOException {
    long postmaster =
        Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip());
    ProcessHandle.of(postmaster).orElseThrow().destroyForcibly();
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
