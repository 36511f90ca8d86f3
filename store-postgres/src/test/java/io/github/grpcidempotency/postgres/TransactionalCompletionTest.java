package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionalCompletionTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final Duration SHORT_LEASE = Duration.ofMillis(600);

  /** Outlasts any test: nothing here is to be had by waiting for a lease to end. */
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);

  private final KeyTable table = new KeyTable(database);
  private final Jdbi jdbi = Jdbi.create(database.app());

  @Test
  void aMessageOfAnotherTypeIsRefusedBeforeAnythingIsSent() {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler mistaken =
        (request, answer) -> {
          Thing thing = newThing(request);
          jdbi.useTransaction(
              handle -> {
                insert(handle, Things.caller(), thing);
                told.complete(catchThrowable(() -> Joining.completeAndCommit(handle, request)));
                Joining.completeAndCommit(handle, thing);
              });
          answer(answer, thing);
        };
    try (ThingServer server = reserved(mistaken).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(client.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
      assertThat(told.join())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("returns idempotency.testing.v1.Thing; the answer to record is a");
    }
  }

  /**
   * This happens after every failover that outlasts a lease. The client must retry, whatever the
   * handler catches.
   */
  @Test
  void aCallWhoseClaimIsLostIsRetriedForEveryAnswerOfItsHandler() {
    List<ThingHandler> reactions =
        List.of(
            (request, answer) -> completeLost(request),
            (request, answer) -> {
              try {
                completeLost(request);
              } catch (RuntimeException swallowed) {
                answer.onError(Status.INTERNAL.withDescription("caught").asRuntimeException());
              }
            },
            (request, answer) -> {
              try {
                completeLost(request);
              } catch (RuntimeException swallowed) {
                answer(answer, newThing(request));
              }
            });
    for (ThingHandler reaction : reactions) {
      try (ThingServer server = reserved(reaction).start();
          ThingClient client = ThingClient.to(server.port())) {
        assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
        assertThat(table.thingsOf(client.user())).isEmpty();
      }
    }
  }

  /** Completes in a transaction, once the claim was taken over by somebody else. */
  private void completeLost(CreateThingRequest request) {
    Thing thing = newThing(request);
    database.execute(
        "UPDATE idempotency.idempotency_keys SET attempt = attempt + 1" + " WHERE user_uuid = ?",
        Things.caller());
    jdbi.useTransaction(
        handle -> {
          insert(handle, Things.caller(), thing);
          Joining.completeAndCommit(handle, thing);
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nobodyWaitsForATransactionThatHasLockedItsRecord(boolean leaseHasEnded) {
    HikariDataSource small = database.newAppPool(2);
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = reserved(committingAt(gate, leaseHasEnded)).start();
        ThingServer right = PostgresThingServer.on(small).lease(LONG_LEASE).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CompletableFuture<Reply> first = toLeft.startThing(REQUEST);
      gate.awaitWaiting(1);

      List<CompletableFuture<Reply>> duplicates =
          Stream.generate(() -> toRight.startThing(REQUEST)).limit(8).toList();
      assertThat(duplicates.stream().map(CompletableFuture::join).map(Reply::reason))
          .containsOnly(Things.IN_PROGRESS);
      assertThat(toRight.withNewKey().createThing(REQUEST).isOk()).isTrue();
      assertThat(first).isNotDone();
      gate.open();

      assertThat(first.join().isOk()).isTrue();
      assertThat(toRight.createThing(REQUEST).bytes()).isEqualTo(first.join().bytes());
      assertThat(left.runs()).isEqualTo(1);
    }
  }

  @Test
  void aTransactionThatIsAboutToCompleteItsRecordDelaysNoOtherRenewal() {
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(database.app()).lease(LONG_LEASE).build();
    UUID completing = UUID.randomUUID();
    UUID other = UUID.randomUUID();
    Claim locked = Things.win(store, Things.claimOf(completing, Things.CREATE_THING));
    Claim free = Things.win(store, Things.claimOf(other, Things.CREATE_THING));
    table.endLeases(completing);
    table.endLeases(other);
    try (Handle handler = database.superuser().open()) {
      handler.begin();
      handler.execute(
          "UPDATE idempotency.idempotency_keys SET response_bytes = '', completed = now()"
              + " WHERE user_uuid = ?",
          completing);

      assertThat(store.renew(List.of(locked, free)))
          .containsExactlyInAnyOrder(locked.operationId(), free.operationId());
      handler.rollback();
    }

    assertThat(table.leaseEnd(other)).isAfter(database.now());
    assertThat(table.leaseEnd(completing)).isBefore(database.now());
  }

  /** A recorded operation is not renewed any more. That does not count as a lost lease. */
  @Test
  void aHandlerThatGoesOnAfterItsCommitHasNotLostItsLease() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server = completing().lease(SHORT_LEASE).start();
        ThingClient client = ThingClient.to(server.port())) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = client.startThing(request);
      gate.awaitWaiting(1);

      await().during(SHORT_LEASE).until(() -> !server.events().contains(Kind.LEASE_LOST));
      gate.open();

      assertThat(first.join().isOk()).isTrue();
      assertThat(client.createThing(request).bytes()).isEqualTo(first.join().bytes());
    }
  }

  /** The record refers to a row that the transaction has locked, which nobody can know. */
  @Test
  @Timeout(120)
  void anAnswerWhoseRecordWaitsForTheHandlersOpenTransactionIsRecordedAfterIt() {
    ThingHandler locking =
        (request, answer) -> {
          Thing thing = newThing(request);
          jdbi.useTransaction(handle -> insert(handle, Things.caller(), thing));
          database
              .superuser()
              .useTransaction(
                  handle -> {
                    handle.execute(
                        "SELECT FROM app.things WHERE id = ? FOR UPDATE",
                        UUID.fromString(thing.getId()));
                    answer(answer, thing);
                  });
        };
    try (ThingServer server = reserved(locking).start();
        ThingClient client = ThingClient.to(server.port())) {
      assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);

      assertThat(Things.untilAnswered(client, REQUEST).isReplay()).isTrue();
      assertThat(server.runs()).isOne();
    }
  }

  private PostgresThingServer.Builder completing() {
    return reserved(ThingHandlers.completing(database.app()));
  }

  private PostgresThingServer.Builder reserved(ThingHandler handler) {
    return PostgresThingServer.on(database.app()).lease(LONG_LEASE).handler(handler);
  }

  /** Waits at a gate while it has its record's row locked. */
  private ThingHandler committingAt(Gate gate, boolean leaseHasEnded) {
    return ThingHandler.creating(
        thing -> {
          if (leaseHasEnded) {
            table.endLeases(Things.caller());
          }
          jdbi.useTransaction(
              handle -> {
                Joining.lock(handle);
                insert(handle, Things.caller(), thing);
                gate.pass(handle);
                Joining.completeAndCommit(handle, thing);
              });
        });
  }
}
