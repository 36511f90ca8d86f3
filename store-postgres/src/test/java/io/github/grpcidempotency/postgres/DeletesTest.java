package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Empty;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.DeleteThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.ThingService;
import io.github.grpcidempotency.thing.Transport;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that delete: their retries, their races, and what their records refer to. */
class DeletesTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final CreateThingRequest REQUEST = Things.named("a thing");
  private static final ResourceType THING = ResourceType.of("thing");
  private static final Duration LONG_LEASE = Duration.ofMinutes(5);
  private static final Jdbi app = Jdbi.create(database.app());

  private final KeyTable table = new KeyTable(database);

  /** How effect and record are brought together. */
  private enum Way {
    RESERVED(Execution.RESERVED),
    JOINED(Execution.RESERVED),
    TRANSACTIONAL(Execution.TRANSACTIONAL);

    private final Execution execution;

    Way(Execution execution) {
      this.execution = execution;
    }

    ProcedureBuilder<Empty> describe(ProcedureBuilder<Empty> deletion) {
      return deletion.execution(execution);
    }
  }

  /** What a handler does to a thing; says whether it has found it. */
  private interface Effect {
    boolean on(Handle handle, UUID thing);
  }

  private static final Effect HARD =
      (handle, thing) -> handle.execute("DELETE FROM app.things WHERE id = ?", thing) > 0;

  private static final Effect SOFT =
      (handle, thing) ->
          handle.execute(
                      "UPDATE app.things SET name = 'deleted' WHERE id = ? AND name <> 'deleted'",
                      thing)
                  > 0
              && handle.execute(
                      "INSERT INTO app.outbox (thing_id, status) VALUES (?, 'pending')", thing)
                  > 0;

  @BeforeAll
  static void addIndex() {
    database.execute("SELECT idempotency.add_operation_index()");
  }

  @ParameterizedTest
  @EnumSource
  void aRetryOfAHardDeletionGetsTheFirstAnswerAndTheRecordRefersToNothing(Way way) {
    try (LogLines log = LogLines.listen();
        ThingServer server = server(way, HARD, UnaryOperator.identity());
        ThingClient client = ThingClient.to(server.port())) {
      UUID thing = client.createThing(REQUEST).thingId();
      ThingClient deleting = client.withNewKey();
      Reply first = deleting.deleteThing(thing);

      Reply retry = deleting.deleteThing(thing);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(first.isReplay()).isFalse();
      assertThat(retry.isReplay()).as(retry.toString()).isTrue();
      assertThat(retry.bytes()).isEqualTo(first.bytes());
      assertThat(retry.operation()).isEqualTo(first.operation()).isPresent();
      assertThat(retry.expires()).isEqualTo(first.expires()).isPresent();
      assertThat(retry.operationStatus()).isEqualTo(first.operationStatus()).contains("completed");
      assertThat(server.runs()).isEqualTo(2);
      assertThat(table.thingsOf(client.user())).isEmpty();
      assertThat(referenceOf(first)).isEmpty();
      assertThat(log.warnings()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void theRecordOfASoftDeletionRefersToItsThingAndHasTheStatusOfItsWork(Way way) {
    try (ThingServer server = server(way, SOFT, delete -> delete.status(outbox()));
        ThingClient client = ThingClient.to(server.port())) {
      UUID thing = client.createThing(REQUEST).thingId();
      database.execute("UPDATE app.outbox SET status = 'done'");
      ThingClient deleting = client.withNewKey();

      Reply first = deleting.deleteThing(thing);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(referenceOf(first)).contains(thing);
      assertThat(first.operationStatus()).contains("processing");
      assertThat(deleting.deleteThing(thing).operationStatus()).contains("processing");
      database.execute("UPDATE app.outbox SET status = 'failed'");
      assertThat(deleting.deleteThing(thing).operationStatus()).contains("failed");

      database.execute("DELETE FROM app.things WHERE id = ?", thing);

      Reply afterwards = deleting.deleteThing(thing);
      assertThat(afterwards.isReplay()).isTrue();
      assertThat(afterwards.operationStatus()).as("the thing has vanished").contains("completed");
      assertThat(referenceOf(first)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"JOINED", "TRANSACTIONAL"})
  void ofTwoRacingDeletesOneDeletesAndTheOtherGetsNotFound(Way way) {
    try (ThingServer server = server(way, HARD, UnaryOperator.identity());
        ThingClient client = ThingClient.to(server.port())) {
      for (int round = 0; round < 3; round++) {
        UUID thing = client.withNewKey().createThing(REQUEST).thingId();
        CompletableFuture<Reply> left = client.withNewKey().startDeletion(thing.toString());
        CompletableFuture<Reply> right = client.withNewKey().startDeletion(thing.toString());

        Reply deleted = left.join().isOk() ? left.join() : right.join();
        Reply late = left.join().isOk() ? right.join() : left.join();

        assertThat(deleted.isOk()).as("%s, %s", left.join(), right.join()).isTrue();
        assertThat(late.status().getCode()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(late.description()).isEqualTo("there is no thing " + thing);
      }
    }
  }

  /** It cannot take the row for one that stands, since its own deletion is not committed. */
  @ParameterizedTest
  @EnumSource(names = {"READ_COMMITTED", "SERIALIZABLE"})
  void aHandlersTransactionOfAnyIsolationRecordsItsDeletion(TransactionIsolationLevel level) {
    try (ThingServer server = server(Way.JOINED, HARD, UnaryOperator.identity());
        ThingClient client = ThingClient.to(server.port())) {
      UUID thing = client.createThing(REQUEST).thingId();
      server
          .things()
          .handleDeletes(
              (request, answer) -> {
                UUID user = Things.caller();
                app.useTransaction(
                    level,
                    handle -> {
                      Joining.lock(handle);
                      ThingHandlers.become(handle, user);
                      HARD.on(handle, UUID.fromString(request.getId()));
                      Joining.completeAndCommit(handle, Empty.getDefaultInstance());
                    });
                ThingService.answer(answer);
              });
      ThingClient deleting = client.withNewKey();

      Reply first = deleting.deleteThing(thing);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(deleting.deleteThing(thing).isReplay()).isTrue();
      assertThat(table.thingsOf(client.user())).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "JOINED", "TRANSACTIONAL"})
  void recordingADeletionAddsNoRoundTrip(Way way) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server =
            start(pool, way, HARD, UnaryOperator.identity(), UnaryOperator.identity());
        ThingClient client = ThingClient.to(server.port())) {
      UUID warm = client.createThing(REQUEST).thingId();
      client.withNewKey().deleteThing(warm);
      UUID thing = client.withNewKey().createThing(REQUEST).thingId();
      proxy.forgetRoundTrips();

      assertThat(client.withNewKey().deleteThing(thing).isOk()).isTrue();

      assertThat(proxy.roundTrips())
          .filteredOn(flush -> flush.contains("idempotency.idempotency_keys"))
          .hasSize(2)
          .last()
          .asString()
          .contains("idempotency.refer_if_it_stands");
    }
  }

  /** What a role sees of the host's table is no measure: it may be hidden once it is deleted. */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aRecordRefersToAThingThatTheRoleCannotSee(Way way) {
    Claim claim = claimed(way);
    UUID thing = newThing(UUID.randomUUID());

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.DONE);

    assertThat(found(claim).outcome()).isEqualTo(Things.answer(thing));
  }

  @ParameterizedTest
  @CsvSource({
    "RESERVED, true",
    "RESERVED, false",
    "TRANSACTIONAL, true",
    "TRANSACTIONAL, false",
  })
  void aConcurrentDeletionDecidesWhetherTheRecordRefersToTheThing(Way way, boolean committed) {
    Claim claim = claimed(way);
    UUID thing = newThing(claim.request().key().caller().userId());
    CompletableFuture<Settled> recording;
    try (Handle other = database.superuser().open()) {
      other.begin();
      other.execute("DELETE FROM app.things WHERE id = ?", thing);
      recording = CompletableFuture.supplyAsync(() -> claim.complete(Things.answer(thing)));
      await().until(() -> database.blocked() == 1);
      if (committed) {
        other.commit();
      } else {
        other.rollback();
      }
    }

    assertThat(recording.join()).isEqualTo(Settled.DONE);

    assertThat(found(claim).outcome().resourceId())
        .isEqualTo(committed ? Optional.empty() : Optional.of(ResourceId.of(thing)));
  }

  @Test
  void anOwnerThatHasLostItsLeaseSetsNoReference() {
    Claim lost = claimed(Way.RESERVED);
    UUID user = lost.request().key().caller().userId();
    table.endLeases(user);
    Claim owner = Things.win(store(), lost.request());

    assertThat(lost.complete(Things.answer(newThing(user)))).isEqualTo(Settled.LOST);
    owner.complete(Things.ANSWER);

    assertThat(found(owner).outcome().resourceId()).isEmpty();
  }

  private static ThingServer server(
      Way way, Effect effect, UnaryOperator<ProcedureBuilder<Empty>> change) {
    return start(database.app(), way, effect, change, create -> create.status(outbox()));
  }

  private static ThingServer start(
      DataSource pool,
      Way way,
      Effect effect,
      UnaryOperator<ProcedureBuilder<Empty>> changeDelete,
      UnaryOperator<ProcedureBuilder<io.github.grpcidempotency.testing.v1.Thing>> changeCreate) {
    ThingServer server =
        ThingServer.on(Transport.LOOPBACK)
            .store(PostgresIdempotencyStore.builder(pool).lease(LONG_LEASE).build())
            .createThing(changeCreate)
            .describe(changeDelete.apply(deleting(way)).build())
            .handler(ThingHandlers.on(pool))
            .withServices()
            .start();
    Jdbi jdbi = Jdbi.create(pool);
    server
        .things()
        .handleDeletes(
            (request, answer) -> {
              if (delete(way, jdbi, effect, request)) {
                ThingService.answer(answer);
              } else {
                answer.onError(
                    Status.NOT_FOUND
                        .withDescription("there is no thing " + request.getId())
                        .asRuntimeException());
              }
            });
    return server;
  }

  private static boolean delete(Way way, Jdbi jdbi, Effect effect, DeleteThingRequest request) {
    UUID thing = UUID.fromString(request.getId());
    if (way == Way.TRANSACTIONAL) {
      return effect.on(ClaimJdbi.handle(), thing);
    }
    UUID user = Things.caller();
    return jdbi.inTransaction(
        handle -> {
          ThingHandlers.become(handle, user);
          boolean found = effect.on(handle, thing);
          if (found && way == Way.JOINED) {
            Joining.completeAndCommit(handle, Empty.getDefaultInstance());
          }
          return found;
        });
  }

  private static OutboxQuery outbox() {
    return OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
        .map(IdempotencyStatus.PROCESSING, "pending")
        .map(IdempotencyStatus.COMPLETED, "done")
        .map(IdempotencyStatus.FAILED, "failed")
        .build();
  }

  private static ProcedureBuilder<Empty> deleting(Way way) {
    return way.describe(Procedure.of(ThingServer.DELETE_THING).deletes(THING, "id"));
  }

  private static Procedure deletion(Way way) {
    return deleting(way).build();
  }

  private static PostgresIdempotencyStore store() {
    return PostgresIdempotencyStore.builder(database.app()).lease(LONG_LEASE).build();
  }

  private static Claim claimed(Way way) {
    ClaimRequest request = Things.claimOf(UUID.randomUUID(), deletion(way));
    return ((ClaimResult.Won)
            (way == Way.TRANSACTIONAL
                ? store().claimInTransaction(request)
                : store().claim(request)))
        .claim();
  }

  private static ClaimResult.Recorded found(Claim claim) {
    ClaimRequest request = claim.request();
    return (ClaimResult.Recorded) store().find(request.key(), request.procedure()).orElseThrow();
  }

  private static UUID newThing(UUID user) {
    UUID thing = UUID.randomUUID();
    database.execute("INSERT INTO app.things (id, user_id, name) VALUES (?, ?, '')", thing, user);
    return thing;
  }

  /** Returns which thing the record of an answer refers to. */
  private static Optional<UUID> referenceOf(Reply reply) {
    UUID operation = UUID.fromString(reply.operation().orElseThrow());
    return Optional.ofNullable(
        database.one(
            UUID.class,
            "SELECT thing_id FROM idempotency.idempotency_keys WHERE id = ?",
            operation));
  }
}
