package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.OperationsClient.nameOf;
import static io.github.grpcidempotency.postgres.OperationsClient.reason;
import static io.github.grpcidempotency.postgres.OperationsClient.refused;
import static io.github.grpcidempotency.postgres.OperationsClient.state;
import static io.github.grpcidempotency.postgres.OperationsClient.work;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.proto.v1.WorkStatus;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.GrpcCleanupExtension;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that wait for operations. */
class OperationWaitTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final Duration LONG = Duration.ofSeconds(50);
  private static final Duration SHORT = Duration.ofMillis(300);

  private static final ThingServer shared =
      database.closing(PostgresThingServer.on(database.app()).withServices().start());

  @RegisterExtension final GrpcCleanupExtension grpc = new GrpcCleanupExtension();

  private ThingServer serverOf(PostgresThingServer.Builder builder) {
    return grpc.registerCloseable(builder.withServices().start());
  }

  private ThingClient clientOf(ThingServer server) {
    return grpc.registerCloseable(ThingClient.to(server.port()));
  }

  private static ThingClient client() {
    return ThingClient.on(shared.channel());
  }

  @Test
  void aWaitGoesFromTheCallToTheEndOfItsWorkOnAnyServer() throws Exception {
    ThingClient client = client();
    ThingClient other =
        clientOf(serverOf(PostgresThingServer.on(database.newAppPool()))).like(client);
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Reply> running = client.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      String name = nameOf(client.createThing(Things.waitingAt(gate)));
      CompletableFuture<Operation> here = OperationsClient.of(client).waiting(name, LONG);
      CompletableFuture<Operation> there = OperationsClient.of(other).waiting(name, LONG);
      gate.open();
      Reply reply = running.join();
      assertThat(state(OperationsClient.of(other).await(name, SHORT)))
          .isEqualTo(State.STATE_PROCESSING);
      assertThat(here).isNotDone();
      assertThat(there).isNotDone();

      work(database, reply, "done");

      assertThat(here.join().getResponse().unpack(Thing.class)).isEqualTo(reply.thing());
      assertThat(there.join().getResponse().unpack(Thing.class)).isEqualTo(reply.thing());
    }
  }

  @Test
  void aWaitForACallThatFailsEndsWithIt() throws Exception {
    ThingClient client = client();
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Reply> running = client.startThing(Things.failingAfter(gate));
      gate.awaitWaiting(1);
      String name = nameOf(client.createThing(Things.failingAfter(gate)));
      CompletableFuture<String> waiting =
          CompletableFuture.supplyAsync(
              () -> reason(refused(() -> OperationsClient.of(client).await(name, LONG))));
      gate.open();

      assertThat(running.join().isOk()).isFalse();
      assertThat(waiting.join()).isEqualTo("IDEMPOTENCY_OPERATION_UNKNOWN");
    }
  }

  @Test
  void aWaitThatIsOverReturnsTheStateOfTheOperation() {
    ThingClient client = client();
    OperationsClient operations = OperationsClient.of(client);
    String name = nameOf(client.createThing(REQUEST));

    assertThat(state(operations.await(name, SHORT))).isEqualTo(State.STATE_PROCESSING);
    assertThat(state(operations.await(name, Duration.ZERO))).isEqualTo(State.STATE_PROCESSING);
    assertThat(
            state(
                operations
                    .stub()
                    .withDeadlineAfter(3, TimeUnit.SECONDS)
                    .waitOperation(WaitOperationRequest.newBuilder().setName(name).build())))
        .isEqualTo(State.STATE_PROCESSING);
  }

  @ParameterizedTest
  @ValueSource(strings = {"pending", "done", "failed"})
  void anOperationWhoseResourceWasDeletedIsDoneInEveryView(String work) {
    ThingClient client = client();
    OperationsClient operations = OperationsClient.of(client);
    Reply reply = client.createThing(REQUEST);
    work(database, reply, work);
    database.execute("DELETE FROM app.things WHERE id = ?", reply.thingId());

    assertThat(state(operations.get(nameOf(reply)))).isEqualTo(State.STATE_COMPLETED);
    assertThat(state(operations.await(nameOf(reply), LONG))).isEqualTo(State.STATE_COMPLETED);
    assertThat(operations.list("")).extracting(Operation::getDone).containsExactly(true);
    assertThat(client.createThing(REQUEST).operationStatus()).contains("completed");
    assertThat(Things.recover(client, ThingServer.CREATE_THING, Duration.ZERO).getWorkStatus())
        .isEqualTo(WorkStatus.WORK_STATUS_COMPLETED);
  }

  @Test
  void aWaitThatEndsAfterItsResourceWasDeletedIsDone() {
    ThingClient client = client();
    Reply reply = client.createThing(REQUEST);
    CompletableFuture<Operation> waiting =
        OperationsClient.of(client).waiting(nameOf(reply), Duration.ofSeconds(2));
    awaitLooks(1);

    database.execute("DELETE FROM app.things WHERE id = ?", reply.thingId());

    assertThat(state(waiting.join())).isEqualTo(State.STATE_COMPLETED);
  }

  @Test
  void aWaitPollsAStatusResolver() {
    AtomicBoolean failed = new AtomicBoolean();
    ThingClient client =
        clientOf(
            serverOf(
                PostgresThingServer.on(database.app())
                    .createThing(
                        thing ->
                            thing.status(
                                resource ->
                                    failed.get()
                                        ? IdempotencyStatus.FAILED
                                        : IdempotencyStatus.PROCESSING))));
    Reply reply = client.createThing(REQUEST);
    CompletableFuture<Operation> waiting = OperationsClient.of(client).waiting(nameOf(reply), LONG);

    failed.set(true);

    assertThat(state(waiting.join())).isEqualTo(State.STATE_FAILED);
  }

  @Test
  void aServerThatEndsAnswersItsWaitersWithTheStateOfTheOperation() {
    ThingServer server = serverOf(PostgresThingServer.on(database.app()));
    ThingClient client = clientOf(server);
    Reply reply = client.createThing(REQUEST);
    List<Waiting> waiting = waitAll(client, List.of(nameOf(reply)));
    awaitLooks(1);

    server.closeInterceptor();

    assertThat(state(waiting.get(0).operation().join())).isEqualTo(State.STATE_PROCESSING);
  }

  @Test
  void oneRoundTripServesAllWaitersExceptCancelledOnes() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThingServer server = serverOf(PostgresThingServer.on(database.app()).store(proxied));
      ThingClient client = clientOf(server);
      Map<ThingClient, Reply> replies = new HashMap<>();
      for (int user = 0; user < 10; user++) {
        ThingClient its = client.as(UUID.randomUUID()).withNewKey();
        replies.put(its, its.createThing(REQUEST));
      }
      List<Waiting> waiting = new ArrayList<>();
      replies.forEach(
          (its, reply) -> {
            waiting.addAll(waitAll(its, List.of(nameOf(reply))));
            await()
                .pollInterval(Duration.ofMillis(5))
                .until(() -> server.waits() == waiting.size());
          });
      proxy.forgetRoundTrips();
      await().until(() -> lastRoundTrip(proxy).contains("unnest"));
      proxy.forgetRoundTrips();
      await().until(() -> proxy.roundTrips().size() >= 3);
      assertThat(proxy.roundTrips())
          .allSatisfy(look -> assertThat(look).contains("FROM app.outbox").contains("set_config"));

      waiting.forEach(Waiting::cancel);
      await()
          .pollInterval(Duration.ofMillis(700))
          .until(
              () -> {
                boolean quiet = proxy.roundTrips().isEmpty();
                proxy.forgetRoundTrips();
                return quiet;
              });
    }
  }

  @Test
  void everyUserSeesItsOwnOutboxOnly() {
    // The things are under row-level security, and so is this look at the outbox.
    ThingClient client =
        clientOf(
            serverOf(
                PostgresThingServer.on(database.app())
                    .outbox(
                        OutboxQuery.of(
                                "SELECT o.status FROM app.outbox AS o JOIN app.things AS t"
                                    + " ON t.id = o.thing_id WHERE t.id = :resource_id"
                                    + " ORDER BY o.id DESC LIMIT 1")
                            .map(IdempotencyStatus.PROCESSING, "pending")
                            .map(IdempotencyStatus.COMPLETED, "done"))));
    List<Reply> replies = new ArrayList<>();
    List<Waiting> waiting = new ArrayList<>();
    for (int user = 0; user < 20; user++) {
      ThingClient its = client.as(UUID.randomUUID()).withNewKey();
      replies.add(its.createThing(REQUEST));
      waiting.addAll(waitAll(its, List.of(nameOf(replies.get(user)))));
    }

    for (int user = 0; user < 20; user += 2) {
      work(database, replies.get(user), "done");
    }

    for (int user = 0; user < 20; user += 2) {
      assertThat(state(waiting.get(user).operation().join())).isEqualTo(State.STATE_COMPLETED);
    }
    for (int user = 1; user < 20; user += 2) {
      assertThat(waiting.get(user).operation()).isNotDone();
    }
    waiting.forEach(Waiting::cancel);
  }

  @Test
  void hundredsOfWaitersNeedNoThreadsAndNoConnections() {
    ThingClient client = client();
    int operations = 15;
    int waiters = 20;
    List<Reply> replies = new ArrayList<>();
    for (int each = 0; each < operations; each++) {
      replies.add(client.withNewKey().createThing(REQUEST));
    }
    List<String> names = replies.stream().map(OperationsClient::nameOf).toList();
    List<Waiting> waiting = new ArrayList<>();
    for (int each = 0; each < waiters; each++) {
      waiting.addAll(waitAll(client, names));
    }
    // All have arrived once nobody but the one that looks needs a connection.
    HikariPoolMXBean pool = database.app().getHikariPoolMXBean();
    await()
        .during(Duration.ofSeconds(1))
        .atMost(LONG)
        .until(() -> pool.getActiveConnections() <= 1 && pool.getThreadsAwaitingConnection() == 0);
    await()
        .until(
            () ->
                Thread.getAllStackTraces().entrySet().stream()
                    .filter(thread -> thread.getKey().getName().startsWith("idempotency-"))
                    .filter(thread -> hasTask(thread.getValue()))
                    .count(),
            threads -> threads < waiting.size() / 5);

    database.execute(
        "INSERT INTO app.outbox (thing_id, status) SELECT id, 'done' FROM app.things"
            + " WHERE user_id = ?",
        client.user());

    for (Waiting each : waiting) {
      assertThat(state(each.operation().join())).isEqualTo(State.STATE_COMPLETED);
    }
  }

  /** Whether a thread of a pool has a task. Those without one end after a minute. */
  private static boolean hasTask(StackTraceElement[] frames) {
    return Arrays.stream(frames).noneMatch(frame -> frame.getMethodName().equals("getTask"));
  }

  /** A waiting call, which has no thread. */
  private record Waiting(CompletableFuture<Operation> operation, Future<Operation> call) {
    void cancel() {
      call.cancel(true);
    }
  }

  private static List<Waiting> waitAll(ThingClient client, List<String> names) {
    OperationsGrpc.OperationsFutureStub stub = OperationsGrpc.newFutureStub(client.channel());
    List<Waiting> waiting = new ArrayList<>();
    for (String name : names) {
      var call = stub.waitOperation(OperationsClient.waitFor(name, LONG));
      CompletableFuture<Operation> operation = new CompletableFuture<>();
      call.addListener(
          () -> {
            try {
              operation.complete(call.get());
            } catch (Exception failure) {
              operation.completeExceptionally(failure);
            }
          },
          Runnable::run);
      waiting.add(new Waiting(operation, call));
    }
    return waiting;
  }

  private static void awaitLooks(int looks) {
    // a look is due every quarter of a second
    await().pollDelay(Duration.ofMillis(300L * looks)).until(() -> true);
  }

  private static String lastRoundTrip(FaultProxy proxy) {
    List<String> all = proxy.roundTrips();
    return all.isEmpty() ? "" : all.get(all.size() - 1);
  }
}
