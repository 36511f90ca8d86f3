package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.ThingClient;
import io.github.grpcidempotency.fault.ThingClient.Reply;
import io.github.grpcidempotency.fault.ThingServer;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import java.lang.reflect.RecordComponent;
import java.sql.Types;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.Query;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class IsolationTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  /** On whose behalf a statement runs. */
  private enum Actor {
    OWNER_OF_THE_ROW,
    ANOTHER_USER,
    NOBODY
  }

  /** What stands under the key before a statement. */
  private enum Row {
    IN_FLIGHT,
    ABANDONED,
    EXPIRED,
    COMPLETED
  }

  private static final ProcedureSql PROCEDURE_SQL =
      ProcedureSql.of(Things.CREATE_THING, IdempotencySchema.DEFAULT_NAME);
  private static final ReservationSql RESERVATION_SQL =
      ReservationSql.of(IdempotencySchema.DEFAULT_NAME);

  /** Every statement of the store on one user's rows, and a row that its user sees it work on. */
  private static final Map<String, Row> STATEMENTS =
      Map.of(
          "claim", Row.COMPLETED,
          "claimWithoutStatus", Row.COMPLETED,
          "reclaim", Row.EXPIRED,
          "complete", Row.IN_FLIGHT,
          "completeWithoutResource", Row.IN_FLIGHT,
          "takeOver", Row.ABANDONED,
          "completed", Row.COMPLETED,
          "release", Row.IN_FLIGHT,
          "hold", Row.IN_FLIGHT);

  private final KeyTable table = new KeyTable(database);
  private final IdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();

  @Test
  void twoUsersWithOneKeyNeitherSeeNorBlockNorLearnOfEachOther() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer server = ThingServer.on(database.app()).start();
        ThingServer otherServer = ThingServer.on(database.app()).start();
        ThingClient alice = ThingClient.to(server.port());
        ThingClient toOther = ThingClient.to(otherServer.port())) {
      CompletableFuture<Reply> slow = alice.startThing(Things.waitingAt(gate));
      gate.awaitWaiting(1);
      ThingClient bob = alice.as(UUID.randomUUID());

      Reply bobs = bob.createThing(REQUEST);
      Reply carols = toOther.like(alice).as(UUID.randomUUID()).createThing(REQUEST);

      for (Reply reply : List.of(bobs, carols)) {
        assertThat(reply.isOk()).isTrue();
        assertThat(reply.isReplay()).isFalse();
      }
      assertThat(slow).isNotDone();
      gate.open();
      assertThat(slow.join().isReplay()).isFalse();
      assertThat(slow.join().thingId()).isNotEqualTo(bobs.thingId());
      assertThat(alice.createThing(Things.waitingAt(gate)).bytes()).isEqualTo(slow.join().bytes());
      assertThat(bob.createThing(REQUEST).bytes()).isEqualTo(bobs.bytes());
      assertThat(server.runs() + otherServer.runs()).isEqualTo(3);
    }
  }

  @Test
  void theMatrixHasEveryStatementOfTheStore() {
    assertThat(
            Stream.of(ProcedureSql.class, ReservationSql.class)
                .flatMap(statements -> Stream.of(statements.getRecordComponents()))
                .map(RecordComponent::getName))
        .containsExactlyInAnyOrderElementsOf(STATEMENTS.keySet());
  }

  /**
   * Even where a statement names the owner of the row, as a faulty store might, row-level security
   * lets nobody else see or touch it.
   */
  @ParameterizedTest
  @MethodSource("matrix")
  void aStatementWorksForTheUserOfTheRowOnly(String statement, Row before, Actor actor) {
    UUID owner = UUID.randomUUID();
    ClaimRequest request = rowOf(owner, before);
    List<String> rows = table.rowsOf(owner);

    List<Map<String, Object>> seen =
        as(
            actor,
            owner,
            handle -> bind(handle.createQuery(unscoped(statement)), request).mapToMap().list());

    if (actor == Actor.OWNER_OF_THE_ROW) {
      assertThat(seen).hasSize(1);
    } else {
      assertThat(seen).isEmpty();
      assertThat(table.rowsOf(owner)).isEqualTo(rows);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aRenewalWorksForEveryActorWhoKnowsIdAndAttemptAndTellsNothingElse(Actor actor) {
    UUID owner = UUID.randomUUID();
    Claim claim = Things.win(store, requestOf(owner));
    String renew = SqlFile.load("renew", Map.of("schema", IdempotencySchema.DEFAULT_NAME));

    for (int attempt = 1; attempt <= 2; attempt++) {
      int fence = attempt;
      List<Map<String, Object>> told =
          as(
              actor,
              owner,
              handle ->
                  handle
                      .createQuery(renew)
                      .bindArray("ids", UUID.class, claim.operationId())
                      .bindArray("attempts", Integer.class, fence)
                      .bind("lease_millis", 60_000)
                      .mapToMap()
                      .list());
      assertThat(told.toString())
          .isEqualTo(fence == 1 ? "[{renewed=" + claim.operationId() + "}]" : "[]");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSweepWorksForEveryActorAndTellsANumberOnly(Actor actor) {
    UUID owner = UUID.randomUUID();
    rowOf(owner, Row.EXPIRED);
    String sweep = SqlFile.load("sweep", Map.of("schema", IdempotencySchema.DEFAULT_NAME));

    List<Map<String, Object>> told =
        as(
            actor,
            owner,
            handle -> handle.createQuery(sweep).bind("batch", 1_000).mapToMap().list());

    assertThat(told).singleElement().asString().matches("\\{sweep_expired=\\d+}");
    assertThat(table.rowsOf(owner)).isEmpty();
  }

  private static Stream<Arguments> matrix() {
    return STATEMENTS.entrySet().stream()
        .flatMap(
            statement ->
                Stream.of(Actor.values())
                    .map(actor -> arguments(statement.getKey(), statement.getValue(), actor)));
  }

  /** Returns a statement without its first part, which sets the user. */
  private static String unscoped(String name) {
    String sql =
        Stream.of(PROCEDURE_SQL, RESERVATION_SQL)
            .flatMap(
                statements ->
                    Stream.of(statements.getClass().getRecordComponents())
                        .filter(component -> component.getName().equals(name))
                        .map(component -> value(component, statements)))
            .findFirst()
            .orElseThrow();
    assertThat(sql).startsWith("SELECT set_config('app.current_user_id', :user, true);");
    return sql.substring(sql.indexOf(';') + 1);
  }

  private static String value(RecordComponent component, Record statements) {
    try {
      return (String) component.getAccessor().invoke(statements);
    } catch (ReflectiveOperationException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private interface Work {
    List<Map<String, Object>> on(Handle handle);
  }

  /** Does something as the application. What the database forbids shows nothing. */
  private static List<Map<String, Object>> as(Actor actor, UUID owner, Work work) {
    try {
      return Jdbi.create(database.app())
          .inTransaction(
              handle -> {
                if (actor != Actor.NOBODY) {
                  UUID user = actor == Actor.OWNER_OF_THE_ROW ? owner : UUID.randomUUID();
                  handle
                      .createQuery("SELECT set_config('app.current_user_id', :user, true)")
                      .bind("user", user.toString())
                      .mapTo(String.class)
                      .one();
                }
                return work.on(handle);
              });
    } catch (JdbiException forbidden) {
      assertThat(forbidden).hasMessageContaining("violates row-level security policy");
      return List.of();
    }
  }

  private ClaimRequest rowOf(UUID owner, Row state) {
    ClaimRequest request = requestOf(owner);
    Claim claim = Things.win(store, request);
    switch (state) {
      case IN_FLIGHT -> {}
      case ABANDONED -> table.endLeases(owner);
      case EXPIRED -> table.expire(owner);
      case COMPLETED ->
          claim.complete(
              new RecordedOutcome.Response(REQUEST.toByteString(), Optional.<UUID>empty()));
    }
    return request;
  }

  private static ClaimRequest requestOf(UUID owner) {
    try (ThingClient client = ThingClient.to(1)) {
      return Things.claimOf(client.as(owner), REQUEST);
    }
  }

  /** Fills in everything that any statement may ask for, all of it the owner's. */
  private Query bind(Query query, ClaimRequest request) {
    UUID owner = request.key().caller().userId();
    return query
        .bind("user", owner.toString())
        .bind("key", request.key().stored())
        .bind("id", idOfTheRowOf(owner))
        .bind("attempt", 1)
        .bind("procedure", request.procedure().name())
        .bind("hash", request.fingerprint().hash().toByteArray())
        .bind("hash_version", request.fingerprint().version())
        .bind("lease_millis", 60_000)
        .bind("retention_millis", 60_000)
        .bind("response", new byte[] {1})
        .bindNull("status", Types.BINARY)
        .bindByType("resource_id", null, UUID.class);
  }

  private static UUID idOfTheRowOf(UUID owner) {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT id FROM idempotency.idempotency_keys WHERE user_id = :owner")
                    .bind("owner", owner)
                    .mapTo(UUID.class)
                    .one());
  }
}
