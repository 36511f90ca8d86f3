package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Duplicates on one server that wait for a call on another. */
class AttachTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  /** Outlast any test: nothing here is to be had by waiting for an end. */
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);

  private static final Duration LONG_WAIT = Duration.ofMinutes(1);

  private static final String POLL = "idempotency.in_flight($1";

  private final KeyTable table = new KeyTable(database);

  @ParameterizedTest
  @EnumSource
  void aNotificationEndsTheWaitBeforeTheNextPoll(Execution execution) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer left = attaching(database.app(), execution).start();
        ThingServer right = attaching(proxied, execution).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port())) {
      await("an answer without a poll")
          .until(() -> pollsBetweenAnswers(proxy, left, right, toLeft, toRight) == 0);
    }
  }

  /** Returns how often the right server asked between the first answer and the second. */
  private static long pollsBetweenAnswers(
      FaultProxy proxy,
      ThingServer left,
      ThingServer right,
      ThingClient toLeft,
      ThingClient toRight) {
    try (Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest request = Things.waitingAt(gate);
      ThingClient client = toLeft.withNewKey();
      int before = left.runs() + right.runs();
      CompletableFuture<Reply> first = client.startThing(request);
      gate.awaitWaiting(1);
      proxy.forgetRoundTrips();
      CompletableFuture<Reply> duplicate = toRight.like(client).startThing(request);
      await().until(() -> polls(proxy) >= 1);

      proxy.forgetRoundTrips();
      gate.open();

      assertThat(first.join().isOk()).isTrue();
      assertThat(duplicate.join().isReplay()).isTrue();
      assertThat(left.runs() + right.runs() - before).isEqualTo(1);
      return polls(proxy);
    }
  }

  @Test
  void wherePoolersSwallowNotificationsTheWatchPolls() {
    try (Gate gate = Gate.shut(database.superuser());
        FaultProxy proxy = FaultProxy.before(database.appUrl()).swallowNotifications();
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer left = attaching(database.app(), Execution.TRANSACTIONAL).start();
        ThingServer right = attaching(proxied, Execution.TRANSACTIONAL).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      proxy.forgetRoundTrips();
      CompletableFuture<Reply> duplicate = toRight.startThing(request);

      await().until(() -> polls(proxy) >= 5);
      assertThat(duplicate).isNotDone();
      gate.open();

      assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
      assertThat(proxy.roundTrips())
          .noneMatch(sql -> sql.contains("INSERT INTO idempotency.idempotency_waits"));
    }
  }

  @Test
  @Tag("torture")
  void ofManyWaitersForAKilledServerExactlyOneTakesOverAfterItsLease() {
    Duration lease = Duration.ofSeconds(5);
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed =
            ServerProcess.start(
                PostgresThingServer.class, database.appUrl(), Long.toString(lease.toMillis()));
        ThingServer left = attaching(database.app(), Execution.RESERVED).lease(lease).start();
        ThingServer right =
            attaching(database.newAppPool(), Execution.RESERVED).lease(lease).start();
        ThingClient toDoomed = ThingClient.to(Integer.parseInt(doomed.awaitLine("port")));
        ThingClient toLeft = ThingClient.to(left.port()).like(toDoomed);
        ThingClient toRight = ThingClient.to(right.port()).like(toDoomed)) {
      takesOver(gate, doomed, left, right, toDoomed, toLeft, toRight);
    }
  }

  @Test
  void ofManyWaitersForAKilledServersTransactionExactlyOneRuns() {
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed =
            ServerProcess.start(
                PostgresThingServer.class,
                database.appUrl(),
                Long.toString(LONG_LEASE.toMillis()),
                "transactional");
        ThingServer left = attaching(database.app(), Execution.TRANSACTIONAL).start();
        ThingServer right = attaching(database.newAppPool(), Execution.TRANSACTIONAL).start();
        ThingClient toDoomed = ThingClient.to(Integer.parseInt(doomed.awaitLine("port")));
        ThingClient toLeft = ThingClient.to(left.port()).like(toDoomed);
        ThingClient toRight = ThingClient.to(right.port()).like(toDoomed)) {
      takesOver(gate, doomed, left, right, toDoomed, toLeft, toRight);
    }
  }

  private void takesOver(
      Gate gate,
      ServerProcess doomed,
      ThingServer left,
      ThingServer right,
      ThingClient toDoomed,
      ThingClient toLeft,
      ThingClient toRight) {
    CreateThingRequest request = Things.waitingAt(gate);
    CompletableFuture<Reply> lost = toDoomed.startThing(request);
    gate.awaitWaiting(1);
    List<CompletableFuture<Reply>> waiting =
        Stream.of(toLeft, toLeft, toRight, toRight)
            .map(client -> client.startThing(request))
            .toList();
    awaitAttached(left, 2);
    awaitAttached(right, 2);

    doomed.kill();
    assertThat(lost.join().isOk()).isFalse();
    gate.open();

    List<Reply> replies = waiting.stream().map(CompletableFuture::join).toList();
    assertThat(replies).allMatch(Reply::isOk);
    assertThat(replies).filteredOn(reply -> !reply.isReplay()).hasSize(1);
    assertThat(replies).extracting(Reply::bytes).containsOnly(replies.get(0).bytes());
    assertThat(left.runs() + right.runs()).isEqualTo(1);
    assertThat(table.thingsOf(toLeft.user())).containsExactly(replies.get(0).thingId());
  }

  @Test
  void aDuplicateThatWaitsBehindACallOfAnotherMethodGetsItsOwnMethodsStatusAndResource() {
    UnaryOperator<PostgresThingServer.Builder> described =
        server ->
            server
                .createOther(other -> other.attach(LONG_WAIT).execution(Execution.TRANSACTIONAL))
                .otherOutage(OutagePolicy.FAIL_CLOSED)
                .outbox(
                    OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
                        .map(IdempotencyStatus.FAILED, "pending"));
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left =
            described.apply(attaching(database.app(), Execution.TRANSACTIONAL)).start();
        ThingServer right =
            described.apply(attaching(database.newAppPool(), Execution.TRANSACTIONAL)).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      CompletableFuture<Reply> ofOther =
          CompletableFuture.supplyAsync(() -> toRight.createOther(request));
      awaitAttached(right, 1);
      CompletableFuture<Reply> duplicate = toRight.startThing(request);
      awaitAttached(right, 2);
      gate.open();

      assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
      assertThat(duplicate.join().operationStatus()).contains("failed");
      assertThat(ofOther.join().reason()).isEqualTo(Things.KEY_REUSED);
    }
  }

  private static PostgresThingServer.Builder attaching(HikariDataSource pool, Execution execution) {
    PostgresThingServer.Builder server =
        PostgresThingServer.on(pool)
            .lease(LONG_LEASE)
            .createThing(thing -> thing.attach(LONG_WAIT).execution(execution));
    return execution == Execution.TRANSACTIONAL ? server.transactional() : server;
  }

  private static void awaitAttached(ThingServer server, int duplicates) {
    await()
        .until(() -> server.events().stream().filter(Kind.ATTACHED::equals).count() == duplicates);
  }

  private static long polls(FaultProxy proxy) {
    return proxy.roundTrips().stream().filter(sql -> sql.contains(POLL)).count();
  }
}
