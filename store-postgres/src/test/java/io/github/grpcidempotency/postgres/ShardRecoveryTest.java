package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.ProcessEvent;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Two servers of one service on two database servers, one of which is killed and comes back. */
@Tag("torture")
class ShardRecoveryTest {
  @RegisterExtension static final TestDatabase east = TestDatabase.create();

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofSeconds(3);

  private static KillablePostgres server;
  private static TestDatabase west;

  private final Map<UUID, String> homes = new ConcurrentHashMap<>();
  private final Map<String, CountDownLatch> ends = new ConcurrentHashMap<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeAll
  static void startWest(@TempDir Path data) {
    server = KillablePostgres.in(data);
    west = TestDatabase.in(server.server());
    ShardsTest.mark(east, "east");
    ShardsTest.mark(west, "west");
  }

  @AfterAll
  static void stopWest() {
    west.close();
    server.close();
  }

  @AfterEach
  void stop() throws Exception {
    ends.values().forEach(CountDownLatch::countDown);
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  @Test
  void answersThatAKilledShardCouldNotRecordAreRecordedWhenItIsBack() throws Exception {
    EventJournal journal = new EventJournal();
    EventJournal journalOfB = new EventJournal();
    ThingServer a = serve(LONG, journal.listener());
    ThingServer b = serve(SHORT, journalOfB.listener());
    ThingClient alice = clientOf(a, "east");
    ThingClient bob = clientOf(a, "west");
    ThingClient aliceToB = sameAt(b, alice);
    ThingClient bobToB = sameAt(b, bob);

    CompletableFuture<Reply> inEast = start(alice, "a thing");
    CompletableFuture<Reply> inWest = start(bob, "a thing");
    await().until(() -> a.runs() == 2);
    CompletableFuture<Reply> waitingInEast = start(aliceToB, "a thing");
    await().until(() -> b.events().contains(Kind.ATTACHED));
    String running = OperationsClient.of(bobToB).list("").get(0).getName();
    assertThat(state(OperationsClient.of(bob).get(running))).isEqualTo(State.STATE_RUNNING);
    server.kill();
    end("a thing");

    assertThat(inEast.join().isOk()).isTrue();
    assertThat(waitingInEast.join().bytes()).isEqualTo(inEast.join().bytes());
    assertThat(inWest.join().status().getCode()).isEqualTo(Status.Code.ABORTED);
    assertThat(journal.only(Kind.RECORDING_DEFERRED, CallEvent.class).shard()).contains("west");

    server.restart();
    await().until(() -> !journal.all(Kind.RECORDED_LATE, CallEvent.class).isEmpty());
    assertThat(journal.only(Kind.RECORDED_LATE, CallEvent.class).shard()).contains("west");
    Reply again = bobToB.createOther(Things.named("a thing"));
    assertThat(again.isReplay()).isTrue();
    assertThat(bob.createOther(Things.named("a thing")).bytes()).isEqualTo(again.bytes());
    assertThat(OperationsClient.of(bobToB).await(running, LONG).getDone()).isTrue();
    assertThat(
            Things.recover(bob, ThingServer.CREATE_OTHER, Duration.ZERO)
                .getResponse()
                .unpack(Thing.class))
        .isEqualTo(again.thing());
    assertThat(a.runs() + b.runs()).isEqualTo(2);

    ThingClient next = bobToB.withNewKey();
    CompletableFuture<Reply> first = start(next, "another thing");
    await().until(() -> b.runs() == 1);
    CompletableFuture<Reply> second = start(sameAt(a, next), "another thing");
    await("what is awaited is announced only by a watch that hears of its end")
        .until(
            () ->
                new KeyTable(west).count("SELECT count(*) FROM idempotency.idempotency_waits") > 0);
    await()
        .until(
            () ->
                journalOfB.all(Kind.LEASES_RENEWED, ProcessEvent.class).stream()
                    .anyMatch(renewed -> renewed.shard().equals(Optional.of("west"))));
    end("another thing");
    assertThat(first.join().isOk()).isTrue();
    assertThat(second.join().bytes()).isEqualTo(first.join().bytes());
    assertThat(journal.all(Kind.LEASE_LOST, CallEvent.class)).isEmpty();
    assertThat(journalOfB.all(Kind.LEASE_LOST, CallEvent.class)).isEmpty();
  }

  private PostgresIdempotencyStore store(TestDatabase database, Duration lease) {
    HikariDataSource pool = PostgresThingServer.pool(database.appUrl());
    open.add(pool);
    return PostgresIdempotencyStore.builder(pool).lease(lease).build();
  }

  private ThingServer serve(Duration lease, IdempotencyListener listener) {
    ThingServer things =
        ThingServer.on(Transport.LOOPBACK)
            .shards(
                Shards.of(
                    Map.of("east", store(east, lease), "west", store(west, lease)),
                    caller -> Optional.ofNullable(homes.get(caller.userId()))))
            .describe(
                Procedure.of(ThingServer.CREATE_OTHER)
                    .execution(Execution.RESERVED)
                    .outage(OutagePolicy.FAIL_OPEN)
                    .attach(LONG)
                    .build())
            .otherHandler(this::answerLate)
            .withServices()
            .listener(listener)
            .start();
    open.add(0, things);
    return things;
  }

  private ThingClient clientOf(ThingServer things, String home) {
    ThingClient client = ThingClient.to(things.port());
    homes.put(client.user(), home);
    open.add(0, client);
    return client;
  }

  private ThingClient sameAt(ThingServer things, ThingClient client) {
    return ThingClient.on(things.channel()).like(client);
  }

  private void answerLate(CreateThingRequest request, StreamObserver<Thing> answer) {
    Uninterruptibles.awaitUninterruptibly(endOf(request.getName()));
    ThingHandler.answer(request, answer);
  }

  private CountDownLatch endOf(String name) {
    return ends.computeIfAbsent(name, unknown -> new CountDownLatch(1));
  }

  private void end(String name) {
    endOf(name).countDown();
  }

  private static CompletableFuture<Reply> start(ThingClient client, String name) {
    return CompletableFuture.supplyAsync(() -> client.createOther(Things.named(name)));
  }
}
