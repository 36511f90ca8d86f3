package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One service whose callers live on two database servers. */
class ShardsTest {
  @RegisterExtension static final TestDatabase east = TestDatabase.create();
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final Map<UUID, String> homes = new ConcurrentHashMap<>();

  @Test
  void aHandlerThatCompletesOnAnotherShardLeavesNothing() {
    List<RuntimeException> thrown = new CopyOnWriteArrayList<>();
    ThingHandler wrong = ThingHandlers.completing(east.app());
    try (TestDatabase west = TestDatabase.create();
        ThingServer things =
            ThingServer.on(Transport.LOOPBACK)
                .shards(sharded(east.app(), west.app()))
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

  @Test
  void oneShardMayRunInTransactionsOfTheHost() {
    try (TestDatabase west = TestDatabase.create();
        ThingServer things =
            ThingServer.on(Transport.LOOPBACK)
                .shards(
                    sharded(
                        store(east).hostTransactions(new ThreadTransactions(east.app())).build(),
                        store(west).build()))
                .createThing(thing -> thing.execution(Execution.TRANSACTIONAL).claimAtCommit())
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
    try (TestDatabase west = TestDatabase.create();
        LogLines log = LogLines.listen()) {
      mark(east, "east");
      check(sharded(east.app(), west.app()));
      assertThat(log.all())
          .filteredOn(line -> line.contains("does not contain the shard's name"))
          .hasSize(1)
          .allMatch(line -> line.contains("shard west: "));
      mark(west, "west");
      check(sharded(east.app(), west.app()));

      assertThatExceptionOfType(SetupException.class)
          .isThrownBy(() -> check(sharded(west.app(), east.app())))
          .satisfies(
              refused ->
                  assertThat(refused.problems())
                      .containsExactly(
                          "shard east: its database contains the name of another shard, west: correct the"
                              + " shard's data source, or the stored name",
                          "shard west: its database contains the name of another shard, east: correct the"
                              + " shard's data source, or the stored name"));
    }
  }

  /** Stores the name of a shard in its database. */
  static void mark(TestDatabase database, String name) {
    String ofEast =
        """
        INSERT INTO idempotency.idempotency_facts VALUES ('shard', 'east');
        """;
    Jdbi.create(database.owner())
        .useHandle(handle -> handle.execute(ofEast.replace("'east'", "'" + name + "'")));
  }

  private static PostgresIdempotencyStore.Builder store(TestDatabase database) {
    return PostgresIdempotencyStore.builder(database.app());
  }

  private Shards sharded(DataSource eastPool, DataSource westPool) {
    Shards shards =
        Shards.of(
            Map.of(
                "east", PostgresIdempotencyStore.builder(eastPool).lease(LEASE).build(),
                "west", PostgresIdempotencyStore.builder(westPool).lease(LEASE).build()),
            this::homeOf);
    return shards;
  }

  private Shards sharded(IdempotencyStore eastStore, IdempotencyStore westStore) {
    return Shards.of(Map.of("east", eastStore, "west", westStore), this::homeOf);
  }

  private static void check(Shards shards) {
    Setup.check(Procedures.of(), Optional.of(Stores.of(shards)));
  }

  @Test
  void thePageShowsWhatIsTestedHere() throws IOException {
    assertThat(Snippets.of(RepositoryRoot.resolve("docs/how-to/shards.md")))
        .hasSize(2)
        .allMatch(
            snippet ->
                Snippets.isCutFrom(
                    snippet,
                    Path.of("src/test/java/io/github/grpcidempotency/postgres/ShardsTest.java")));
  }

  private Optional<String> homeOf(Caller caller) {
    return Optional.ofNullable(homes.get(caller.userId()));
  }

  private static Stream<List<UUID>> thingsOf(ThingClient client, TestDatabase... databases) {
    return Stream.of(databases).map(database -> new KeyTable(database).thingsOf(client.user()));
  }
}
