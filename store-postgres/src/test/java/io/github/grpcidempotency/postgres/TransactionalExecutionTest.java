package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.rpc.Code;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Context;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TransactionalExecutionTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).transactional().start());

  private final KeyTable table = new KeyTable(database);
  private final ThingClient client = ThingClient.on(server.channel());

  @Test
  void anAnswerThatIsTooLargeToBeRecordedRollsItsEffectBack() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.maxRecordedBytes(10))
                .transactional()
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply refused = client.createThing(REQUEST);

      assertThat(refused.status().getCode()).isEqualTo(Status.Code.INTERNAL);
      assertThat(refused.status().getDescription())
          .contains("too large to be recorded", "maxRecordedBytes is 10", "omit", "rebuild");
      assertThat(table.thingsOf(client.user())).isEmpty();
      assertThat(table.rowsOf(client.user())).isEmpty();
    }
  }

  @Test
  void aHandlersTransactionHasTheUserOfItsCall() {
    ThingHandler counting =
        (request, answer) -> {
          int visible =
              ClaimJdbi.handle()
                  .createQuery("SELECT count(*) FROM app.things")
                  .mapTo(Integer.class)
                  .one();
          Thing thing = newThing(request).toBuilder().setName(visible + " before").build();
          insert(ClaimJdbi.handle(), thing);
          answer(answer, thing);
        };
    try (ThingServer server =
            PostgresThingServer.on(database.app()).transactional(counting).start();
        ThingClient one = ThingClient.to(server.port())) {
      one.createThing(REQUEST);
      ThingClient other = one.as(UUID.randomUUID());

      assertThat(other.createThing(REQUEST).thing().getName()).isEqualTo("0 before");
      assertThat(other.withNewKey().createThing(REQUEST).thing().getName()).isEqualTo("1 before");
      assertThat(other.withoutKey().createThing(REQUEST).thing().getName()).isEqualTo("2 before");
    }
  }

  @Test
  void aHandlerWritesOnAnotherThreadThatHasTheContextOfItsCall() {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      server
          .things()
          .handle(
              (request, answer) ->
                  Context.currentContextExecutor(threads)
                      .execute(() -> ThingHandlers.transactional().create(request, answer)));
      Reply first = client.createThing(REQUEST);

      assertThat(first.isReplay()).isFalse();
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
    } finally {
      threads.shutdownNow();
    }
  }

  /** With a key and without one. */
  @Test
  void aHandlerThatOverlooksAFailedStatementLeavesNothing() {
    AtomicBoolean fail = new AtomicBoolean(true);
    server
        .things()
        .handle(
            ThingHandler.creating(
                thing -> {
                  insert(ClaimJdbi.handle(), thing);
                  if (fail.get()) {
                    assertThatThrownBy(() -> ClaimJdbi.handle().execute("SELECT 1 / 0"))
                        .hasMessageContaining("division by zero");
                  }
                }));
    for (ThingClient each : List.of(client, client.withoutKey())) {
      assertThat(each.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.INTERNAL);
    }
    assertThat(table.rowsOf(client.user())).isEmpty();
    assertThat(table.thingsOf(client.user())).isEmpty();

    fail.set(false);
    Reply retried = client.createThing(REQUEST);
    assertThat(retried.isOk()).isTrue();
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void aCallWithoutACallerRunsInATransactionWithoutAUser() {
    AtomicBoolean transaction = new AtomicBoolean();
    ThingHandler looking =
        (request, answer) -> {
          transaction.set(ClaimJdbi.handle().isInTransaction());
          Optional<UUID> user =
              ClaimJdbi.handle()
                  .createQuery("SELECT idempotency.current_user_id()")
                  .mapTo(UUID.class)
                  .findOne();
          answer(answer, newThing(request).toBuilder().setName(user.toString()).build());
        };
    server.things().handle(looking);
    assertThat(client.withoutUser().createThing(REQUEST).thing().getName())
        .isEqualTo("Optional.empty");
    assertThat(transaction).isTrue();
  }

  @Test
  void duplicatesInFlightNeverWaitOnAConnection() {
    HikariDataSource small = database.newAppPool(2);
    HikariDataSource elsewhere = database.newAppPool(2);
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = PostgresThingServer.on(small).transactional().start();
        ThingServer right = PostgresThingServer.on(elsewhere).transactional().start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest slow = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(slow);
      gate.awaitWaiting(1);

      List<CompletableFuture<Reply>> duplicates = new ArrayList<>();
      for (int pair = 0; pair < 32; pair++) {
        duplicates.add(toLeft.startThing(slow));
        duplicates.add(toRight.startThing(slow));
      }
      assertThat(duplicates.stream().map(CompletableFuture::join))
          .allSatisfy(
              reply -> {
                assertThat(reply.status().getCode()).isEqualTo(Status.Code.ABORTED);
                assertThat(reply.reason()).isEqualTo(Things.IN_PROGRESS);
                assertThat(reply.retryAfter()).isPresent();
              });
      assertThat(toLeft.withNewKey().createThing(REQUEST).isOk()).isTrue();
      assertThat(toRight.withNewKey().createThing(REQUEST).isOk()).isTrue();
      assertThat(first).isNotDone();

      gate.open();
      assertThat(first.join().isOk()).isTrue();
    }
  }

  @Test
  void aMismatchInFlightIsRefusedAtOnceWhereTheCallRunsAndElsewhereOnceItIsDone() {
    CreateThingRequest another = Things.named("another thing");
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = PostgresThingServer.on(database.app()).transactional().start();
        ThingServer right = PostgresThingServer.on(database.newAppPool()).transactional().start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CompletableFuture<Reply> first = toLeft.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);

      assertThat(toLeft.createThing(another).reason()).isEqualTo(Things.KEY_REUSED);
      assertThat(toLeft.createOther(another).reason()).isEqualTo(Things.KEY_REUSED);
      assertThat(toRight.createThing(another).reason()).isEqualTo(Things.IN_PROGRESS);
      gate.open();
      assertThat(first.join().isOk()).isTrue();
      assertThat(toRight.createThing(another).reason()).isEqualTo(Things.KEY_REUSED);
      assertThat(toRight.createOther(another).reason()).isEqualTo(Things.KEY_REUSED);
    }
  }

  @Test
  void theSameKeyOfAnotherUserIsAnotherOperationEvenInFlight() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server = PostgresThingServer.on(database.app()).transactional().start();
        ThingClient client = ThingClient.to(server.port())) {
      CompletableFuture<Reply> first = client.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);

      assertThat(client.as(UUID.randomUUID()).createThing(REQUEST).isOk()).isTrue();
      assertThat(client.in("elsewhere").createThing(REQUEST).isOk()).isTrue();

      gate.open();
      assertThat(first.join().isOk()).isTrue();
    }
  }

  @Test
  void aTerminalErrorIsRecordedOverAnExpiredRecord() {
    AtomicInteger runs = new AtomicInteger();
    ThingHandler refusing =
        (request, answer) -> {
          runs.incrementAndGet();
          ClaimJdbi.handle();
          answer.onError(
              Status.NOT_FOUND.withDescription("run " + runs.get()).asRuntimeException());
        };
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(
                    thing ->
                        thing.failures(FailurePolicy.releaseAll().withTerminal(Code.NOT_FOUND)))
                .transactional(refusing)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      table.expire(client.user());

      assertThat(client.createThing(REQUEST).description()).isEqualTo("run 2");

      assertThat(client.createThing(REQUEST).description()).as("replayed").isEqualTo("run 2");
      assertThat(table.rowsOf(client.user())).hasSize(1);
    }
  }

  /** The sweep is not seen to hold the key of what it deletes. */
  @Test
  void anExpiredRecordThatIsSweptDuringAClaimDoesNotBlockTheClaim() {
    try (ThingServer server = PostgresThingServer.on(database.app()).transactional().start();
        ThingClient client = ThingClient.to(server.port());
        Handle sweep = database.superuser().open()) {
      client.createThing(REQUEST);
      table.expire(client.user());
      sweep.begin();
      sweep.execute("DELETE FROM idempotency.idempotency_keys WHERE user_uuid = ?", client.user());
      CompletableFuture<Reply> claim = client.startThing(Things.named("another thing"));
      await().until(() -> database.blocked() == 1);
      sweep.commit();

      assertThat(claim.join().isOk()).isTrue();
    }
  }
}
