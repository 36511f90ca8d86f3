package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers whose own transaction keeps its first snapshot. */
class StrictCompletionTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final Duration SHORT_LEASE = Duration.ofSeconds(2);
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).lease(LONG_LEASE).start());

  private final KeyTable table = new KeyTable(database);
  private final ThingClient client = ThingClient.on(server.channel());
  private final Jdbi jdbi = Jdbi.create(database.app());

  /** However quick it is: a slow one would fail in production only. */
  @ParameterizedTest
  @EnumSource(names = {"REPEATABLE_READ", "SERIALIZABLE"})
  void aTransactionThatHasNotLockedItsRecordFailsTheFirstTime(TransactionIsolationLevel level) {
    assertThatTheLockIsRequired(level, LONG_LEASE, user -> {});
  }

  @Test
  void aTransactionWhoseLeaseWasRenewedMeanwhileFailsInTheSameWay() {
    assertThatTheLockIsRequired(
        TransactionIsolationLevel.SERIALIZABLE, SHORT_LEASE, this::awaitRenewal);
  }

  private void assertThatTheLockIsRequired(
      TransactionIsolationLevel level, Duration lease, Consumer<UUID> between) {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler handler =
        ThingHandler.creating(
            thing -> {
              UUID user = Things.caller();
              try {
                jdbi.useTransaction(
                    level,
                    handle -> {
                      insert(handle, user, thing);
                      between.accept(user);
                      Joining.completeAndCommit(handle, thing);
                    });
              } catch (RuntimeException thrown) {
                told.complete(thrown);
                throw thrown;
              }
              told.complete(new AssertionError("not told"));
            });
    try (ThingServer server = server(lease, handler);
        ThingClient client = ThingClient.to(server.port())) {
      Reply reply = client.createThing(REQUEST);

      assertThat(told.join())
          .hasMessageContaining("call TransactionalCompletion.lock as the first statement");
      assertThat(reply.status().getCode()).isEqualTo(Status.Code.UNKNOWN);
      assertThat(table.rowsOf(client.user())).isEmpty();
      assertThat(table.thingsOf(client.user())).isEmpty();
    }
  }

  /** Its lease may end meanwhile, because it is not renewed. Still nobody takes it over. */
  @ParameterizedTest
  @EnumSource(names = {"READ_COMMITTED", "SERIALIZABLE"})
  void aTransactionThatHasLockedItsRecordCompletesAfterTheEndOfItsLease(
      TransactionIsolationLevel level) {
    ThingHandler handler =
        ThingHandler.creating(
            thing -> {
              UUID user = Things.caller();
              awaitRenewal(user);
              jdbi.useTransaction(
                  level,
                  handle -> {
                    Joining.lock(handle);
                    insert(handle, user, thing);
                    await().until(() -> table.leaseEnd(user).isBefore(database.now()));
                    Joining.completeAndCommit(handle, thing);
                  });
            });
    try (ThingServer server = server(SHORT_LEASE, handler);
        ThingServer other = server(SHORT_LEASE, handler);
        ThingClient client = ThingClient.to(server.port());
        ThingClient toOther = ThingClient.to(other.port()).like(client)) {
      CompletableFuture<Reply> first = client.startThing(REQUEST);
      await().until(() -> !table.rowsOf(client.user()).isEmpty());
      while (!first.isDone()) {
        Reply duplicate = toOther.createThing(REQUEST);
        assertThat(duplicate.isReplay() || duplicate.reason().equals(Things.IN_PROGRESS))
            .as(duplicate.toString())
            .isTrue();
      }

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(toOther.createThing(REQUEST).bytes()).isEqualTo(first.join().bytes());
      assertThat(table.thingsOf(client.user())).containsExactly(first.join().thingId());
      assertThat(table.joined(client.user())).isTrue();
      assertThat(server.events()).doesNotContain(Kind.LEASE_LOST);
    }
  }

  /** A lock ends with its transaction. */
  @Test
  void aTransactionThatIsTriedAgainLocksAgain() {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler handler =
        ThingHandler.creating(
            thing -> {
              UUID user = Things.caller();
              try (Handle handle = jdbi.open()) {
                handle.setTransactionIsolationLevel(TransactionIsolationLevel.REPEATABLE_READ);
                handle.begin();
                Joining.lock(handle);
                handle.rollback();
                handle.begin();
                insert(handle, user, thing);
                try {
                  Joining.completeAndCommit(handle, thing);
                  told.complete(new AssertionError("not told"));
                } catch (RuntimeException thrown) {
                  told.complete(thrown);
                }
                handle.rollback();
                handle.begin();
                Joining.lock(handle);
                insert(handle, user, thing);
                Joining.completeAndCommit(handle, thing);
                handle.commit();
              }
            });
    server.things().handle(handler);
    Reply first = client.createThing(REQUEST);

    assertThat(first.isOk()).as(first.toString()).isTrue();
    assertThat(told.join()).hasMessageContaining("is repeatable read");
    assertThat(client.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
  }

  @Test
  void aRecordThatWasTakenOverIsNotLocked() {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler handler =
        (request, answer) -> {
          UUID user = Things.caller();
          database.execute(
              "UPDATE idempotency.idempotency_keys SET attempt = attempt + 1"
                  + " WHERE user_uuid = ?",
              user);
          Thing thing = newThing(request);
          assertThatThrownBy(
                  () ->
                      jdbi.useTransaction(
                          handle -> {
                            try {
                              Joining.lock(handle);
                            } catch (RuntimeException swallowed) {
                              told.complete(swallowed);
                            }
                            insert(handle, user, thing);
                          }))
              .hasMessageContaining("transaction is aborted");
          answer(answer, thing);
        };
    server.things().handle(handler);
    assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
    assertThat(told.join()).isInstanceOf(ClaimLostException.class);
    assertThat(table.thingsOf(client.user())).isEmpty();
  }

  @Test
  @Timeout(120)
  void anAnswerWhileTheHandlersTransactionHasTheRecordLockedIsMisuse() {
    ThingHandler handler =
        (request, answer) -> {
          Thing thing = newThing(request);
          jdbi.useTransaction(
              handle -> {
                Joining.lock(handle);
                insert(handle, Things.caller(), thing);
                answer(answer, thing);
                handle.rollback();
              });
        };
    server.things().handle(handler);
    Reply reply = client.createThing(REQUEST);

    assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(reply.description())
        .contains("while the transaction that called TransactionalCompletion.lock was still open");
  }

  @Test
  @Timeout(120)
  void anErrorWhileTheHandlersTransactionHasTheRecordLockedFreesTheKeyAfterIt() {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    ThingHandler handler =
        (request, answer) ->
            jdbi.useTransaction(
                handle -> {
                  Joining.lock(handle);
                  answer.onError(Status.INTERNAL.withDescription("told").asRuntimeException());
                  answered.join();
                });
    server.things().handle(handler);
    assertThat(client.createThing(REQUEST).description()).isEqualTo("told");
    answered.complete(null);

    await().until(() -> table.rowsOf(client.user()).isEmpty());
  }

  @Test
  void anAnswerInTheTransactionAfterTheOneThatLockedIsRecorded() {
    ThingHandler handler =
        (request, answer) -> {
          Thing thing = newThing(request);
          try (Handle handle = jdbi.open()) {
            handle.begin();
            Joining.lock(handle);
            insert(handle, Things.caller(), thing);
            handle.commit();
            handle.begin();
            handle.execute("SELECT 1");
            answer(answer, thing);
            handle.commit();
          }
        };
    server.things().handle(handler);
    Reply first = client.createThing(REQUEST);

    assertThat(first.isOk()).as(first.toString()).isTrue();
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();
  }

  private static ThingServer server(Duration lease, ThingHandler handler) {
    return PostgresThingServer.on(database.app()).lease(lease).handler(handler).start();
  }

  private void awaitRenewal(UUID user) {
    OffsetDateTime leaseEnd = table.leaseEnd(user);
    await().until(() -> table.leaseEnd(user).isAfter(leaseEnd));
  }
}
