package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Only three words ever reach a client, whatever the outbox contains. */
class OutboxStatusTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final UUID ALICE = new UUID(1, 2);
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).start());

  private static final ThingServer completedIfAbsent =
      database.closing(
          PostgresThingServer.on(database.app())
              .outbox(
                  OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
                      .map(COMPLETED, "done")
                      .map(FAILED, "failed")
                      .whenAbsent(COMPLETED))
              .start());

  private final EventJournal journal = new EventJournal();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    threads.shutdownNow();
  }

  @BeforeAll
  static void letTheOutboxHoldAnything() {
    database.execute("ALTER TABLE app.outbox ALTER COLUMN status DROP NOT NULL");
  }

  @ParameterizedTest
  @CsvSource({
    "pending, processing",
    "retrying, processing",
    "done, completed",
    "failed, failed",
  })
  void aMappedWordIsReportedAsItsStatus(String word, String status) {
    try (LogLines log = LogLines.listen()) {
      assertThat(replayStatus(server, "status = '" + word + "'")).contains(status);
      assertThat(log.warnings()).isEmpty();
    }
  }

  @Test
  void anyOtherValueIsProcessingAndAWarning() {
    try (LogLines log = LogLines.listen()) {
      for (String value :
          List.of("'exploded'", "'COMPLETED'", "'completed'", "' done'", "''", "NULL")) {
        assertThat(replayStatus(completedIfAbsent, "status = " + value)).contains("processing");
      }
      assertThat(log.warnings()).anyMatch(line -> line.contains("the outbox value"));
    }
  }

  @Test
  void anEmptyOutboxIsProcessingUnlessConfiguredOtherwise() {
    ThingClient client = ThingClient.on(server.channel());
    client.createThing(REQUEST);
    database.execute("DELETE FROM app.outbox");

    assertThat(client.createThing(REQUEST).operationStatus()).contains("processing");
    assertThat(
            ThingClient.on(completedIfAbsent.channel())
                .like(client)
                .createThing(REQUEST)
                .operationStatus())
        .contains("completed");
  }

  @Test
  void aQueryThatFailsForOneThingIsProcessingAndAWarning() {
    String query =
        "SELECT (1 / length(substr(status, 8)))::text FROM app.outbox"
            + " WHERE thing_id = :resource_id";
    try (LogLines log = LogLines.listen();
        ThingServer server =
            PostgresThingServer.on(database.app())
                .outbox(OutboxQuery.of(query))
                .listener(journal.listener())
                .start()) {
      assertThat(replayStatus(server, "status = 'done'")).contains("processing");
      UUID operation = journal.only(Kind.CLAIMED, ClaimEvent.class).operationId().orElseThrow();
      assertThat(journal.only(Kind.STATUS_UNKNOWN, CallEvent.class).operationId())
          .contains(operation);
      assertThat(log.warnings())
          .hasSize(1)
          .allMatch(line -> line.contains("outbox query") && line.contains(operation.toString()));
    }
  }

  private static OutboxQuery.Builder ofTenant() {
    return OutboxQuery.of("SELECT status FROM app.of_tenant WHERE thing_id = :resource_id")
        .map(COMPLETED, "done");
  }

  /** An outbox behind policies of its own, which admit one tenant and one project. */
  private static void makeOutboxOfTenants() {
    database.execute(
        """
        CREATE TABLE IF NOT EXISTS app.of_tenant (
          thing_id uuid PRIMARY KEY, tenant text, project text, status text);
        GRANT SELECT ON app.of_tenant TO things_app;
        ALTER TABLE app.of_tenant ENABLE ROW LEVEL SECURITY;
        DROP POLICY IF EXISTS own ON app.of_tenant;
        CREATE POLICY own ON app.of_tenant
          USING (tenant = current_setting('app.tenant', true)
                 AND project = current_setting('app.project', true));
        """);
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aQueryIsRunWithTheSettingsThatThePoliciesOfItsTableNeed(Execution execution) {
    makeOutboxOfTenants();
    try (ThingServer server =
        PostgresThingServer.on(database.app())
            .batched()
            .outbox(ofTenant().set("app.tenant", ":tenant").set("app.project", "lower(:project)"))
            .createThing(thing -> thing.execution(execution))
            .start()) {
      List<ThingClient> callers = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        String tenant = "tenant-" + i % 3;
        ThingClient caller =
            ThingClient.on(server.channel()).in(tenant + "/" + (i % 2 == 0 ? "Red" : ""));
        UUID thing = caller.createThing(REQUEST).thingId();
        database.execute(
            "INSERT INTO app.of_tenant VALUES ('%s', '%s', '%s', 'done')"
                .formatted(thing, tenant, i % 2 == 0 ? "red" : ""));
        callers.add(caller);
      }
      List<CompletableFuture<Reply>> replays =
          callers.stream().map(caller -> caller.startThing(REQUEST)).toList();
      for (CompletableFuture<Reply> replay : replays) {
        assertThat(replay.join().operationStatus()).contains("completed");
      }
    }
  }

  @Test
  void theParametersOfAQueryAreThoseOfTheCaller() {
    try (ThingServer server =
        PostgresThingServer.on(database.app())
            .outbox(
                OutboxQuery.of(
                        "SELECT :tenant || ' ' || :project || ' ' || u.id::text FROM (SELECT"
                            + " :user_id AS id) AS u WHERE :resource_id IS NOT NULL")
                    .map(COMPLETED, "acme apollo " + ALICE, "  " + ALICE))
            .start()) {
      for (ThingClient caller :
          List.of(
              ThingClient.on(server.channel()).as(ALICE).in("acme/apollo"),
              ThingClient.on(server.channel()).as(ALICE))) {
        caller.createThing(REQUEST);

        assertThat(caller.createThing(REQUEST).operationStatus()).contains("completed");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aQueryThatNeverFindsARowForAYoungRecordIsReported(Execution execution) {
    makeOutboxOfTenants();
    try (LogLines log = LogLines.listen();
        ThingServer server =
            PostgresThingServer.on(database.app())
                .outbox(ofTenant())
                .createThing(thing -> thing.execution(execution))
                .start()) {
      ThingClient caller = ThingClient.on(server.channel()).in("acme");
      UUID thing = caller.createThing(REQUEST).thingId();
      database.execute(
          "INSERT INTO app.of_tenant VALUES ('%s', 'acme', '', 'done')".formatted(thing));

      for (int i = 0; i < 3; i++) {
        assertThat(caller.createThing(REQUEST).operationStatus()).contains("processing");
      }

      assertThat(log.warnings())
          .anyMatch(line -> line.contains("the outbox query has never found an entry"));
    }
  }

  @Test
  void aSettingThatAQueryMustNotChangeIsRefused() {
    for (String name : List.of("app.current_user_id", "app.tenant', 'x", "", "App.Tenant")) {
      assertThatIllegalArgumentException().isThrownBy(() -> ofTenant().set(name, ":tenant"));
    }
    for (String value : List.of(":resource_id", "1; SELECT 2", "idempotency_record.x")) {
      assertThatIllegalArgumentException().isThrownBy(() -> ofTenant().set("app.tenant", value));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aValueThatIsNotMappedIsAnUnknownStatus(Execution execution) {
    try (ThingServer server =
        PostgresThingServer.on(database.app())
            .execution(execution)
            .listener(journal.listener())
            .start()) {
      assertThat(replayStatus(server, "status = 'exploded'")).contains("processing");
      assertThat(journal.only(Kind.STATUS_UNKNOWN, CallEvent.class).operationId())
          .isEqualTo(journal.only(Kind.CLAIMED, ClaimEvent.class).operationId());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aQueryThatFindsSeveralRowsIsProcessingAndAWarningAndCostsNoMore(Execution execution) {
    String query =
        "SELECT 'done' FROM app.outbox CROSS JOIN generate_series(1, 3)"
            + " WHERE thing_id = :resource_id";
    try (LogLines log = LogLines.listen();
        FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource pool = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server =
            PostgresThingServer.on(pool)
                .outbox(OutboxQuery.of(query).map(COMPLETED, "done"))
                .execution(execution)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      client.createThing(REQUEST);
      proxy.forgetRoundTrips();

      ThingClient retrying = client.with("idempotency-retry", "true");
      assertThat(retrying.createThing(REQUEST).operationStatus()).contains("processing");

      assertThat(proxy.roundTrips()).hasSize(1);
      assertThat(log.warnings()).anyMatch(line -> line.contains("found more than one row"));
    }
  }

  /** A query cannot reach the library's names, whatever it calls its own tables. */
  @ParameterizedTest
  @ValueSource(strings = {"k", "t", "r", "found"})
  void aQuerysOwnAliasIsNeverTakenForTheLibrarys(String alias) {
    String query =
        "SELECT k.status FROM app.outbox AS k WHERE k.thing_id = :resource_id ORDER BY k.id DESC"
            + " LIMIT 1";
    OutboxQuery.Builder outbox =
        OutboxQuery.of(query.replaceAll("\\bk\\b", alias))
            .map(PROCESSING, "pending")
            .map(COMPLETED, "done");
    try (ThingServer server = PostgresThingServer.on(database.app()).outbox(outbox).start();
        ThingClient client = ThingClient.to(server.port());
        ThingClient other = ThingClient.to(server.port())) {
      client.createThing(REQUEST);
      Reply others = other.createThing(REQUEST);
      database.execute(
          "UPDATE app.outbox SET status = 'done' WHERE thing_id = ?", others.thingId());

      assertThat(client.createThing(REQUEST).operationStatus()).contains("processing");
      assertThat(other.createThing(REQUEST).operationStatus()).contains("completed");
    }
  }

  /** A column that the query's own tables lack would otherwise be the record's. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT status FROM app.outbox AS o WHERE o.thing_id = :resource_id AND attempt = 1",
        "SELECT name FROM app.things WHERE thing_id = :resource_id",
        "SELECT status FROM app.outbox WHERE thing_id = :resource_id ORDER BY created",
        "SELECT k.procedure FROM app.outbox WHERE thing_id = :resource_id",
      })
  void aColumnOfTheRecordIsNoColumnOfAQuerys(String query) {
    Procedure procedure =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
            .status(OutboxQuery.of(query).build())
            .build();
    IdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();

    assertThatThrownBy(() -> Things.verify(store, procedure))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("CreateThing: its outbox query fails");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT status FROM app.outbox AS idempotency_record WHERE thing_id = :resource_id",
        "SELECT status FROM app.outbox AS Idempotency_Record WHERE thing_id = :resource_id",
        "SELECT idempotency_record_key FROM app.outbox WHERE thing_id = :resource_id",
        "SELECT status FROM app.outbox AS U&\"idempotency\\005frecord\" WHERE thing_id ="
            + " :resource_id",
        "SELECT status FROM app.outbox",
        "SELECT status FROM app.outbox WHERE thing_id = :resource_id_of_it",
        "SELECT status::resource_id FROM app.outbox",
        "SELECT status FROM app.outbox WHERE thing_id = :resource_id; SELECT 1",
      })
  void aQueryThatCouldReachTheLibrarysNamesIsRefused(String query) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> OutboxQuery.of(query))
        .withMessageContaining("an outbox query must be one SELECT that contains :resource_id");
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void aMissingOutboxHidesNoRecordAndIsNotTreatedAsEmpty(Execution execution) {
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
    Function<ClaimRequest, ClaimResult> claiming =
        execution == Execution.TRANSACTIONAL ? store::claimInTransaction : store::claim;
    ClaimRequest request = recorded(execution, claiming);
    assertThat(((ClaimResult.Recorded) claiming.apply(request)).status()).contains(COMPLETED);
    database.execute("ALTER TABLE app.outbox RENAME TO gone");
    try (LogLines log = LogLines.listen()) {
      ClaimResult.Recorded recorded = (ClaimResult.Recorded) claiming.apply(request);

      assertThat(recorded.status()).as("what the core is told").isEmpty();
      assertThat(log.warnings()).anyMatch(line -> line.contains("outbox query"));
    } finally {
      database.execute("ALTER TABLE app.gone RENAME TO outbox");
    }
  }

  /** A pool closes a connection on which a feature is not supported (SQLSTATE 0A000). */
  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "TRANSACTIONAL"})
  void anOutboxQueryThatBreaksTheConnectionHidesNoRecord(Execution execution) {
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
    Function<ClaimRequest, ClaimResult> claiming =
        execution == Execution.TRANSACTIONAL ? store::claimInTransaction : store::claim;
    ClaimRequest request = recorded(execution, claiming);
    breakOutbox("");
    try {
      for (boolean retry : List.of(false, true)) {
        ClaimResult.Recorded recorded =
            (ClaimResult.Recorded)
                claiming.apply(request.tracedBy(Optional.empty()).markedAsRetry(retry));

        assertThat(recorded.status()).as("what the core is told").isEmpty();
      }
    } finally {
      mendOutbox();
    }
  }

  /** No call waits for a connection while it holds one, so the calls do not wait for each other. */
  @Test
  void outboxQueriesThatBreakAllConnectionsAtOnceHideNoRecord() {
    try (HikariDataSource pool = PostgresThingServer.pool(database.appUrl())) {
      pool.setConnectionTimeout(2_000);
      PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
      ClaimRequest request = recorded(Execution.RESERVED, store::claim).markedAsRetry(true);
      breakOutbox("PERFORM pg_sleep(0.5);");
      try {
        List<CompletableFuture<ClaimResult>> calls =
            Stream.generate(
                    () -> CompletableFuture.supplyAsync(() -> store.claim(request), threads))
                .limit(8)
                .toList();

        for (CompletableFuture<ClaimResult> call : calls) {
          assertThat(call.join()).isInstanceOf(ClaimResult.Recorded.class);
        }
      } finally {
        mendOutbox();
        store.close();
      }
    }
  }

  /** Lets each outbox query fail in a way that breaks its connection, after some statements. */
  private static void breakOutbox(String before) {
    database.execute(
        """
        ALTER TABLE app.outbox RENAME TO gone;
        CREATE FUNCTION app.unsupported() RETURNS text LANGUAGE plpgsql AS
          'BEGIN %s RAISE EXCEPTION USING ERRCODE = ''0A000''; END';
        CREATE VIEW app.outbox AS
          SELECT app.unsupported() AS status, id AS thing_id, 1 AS id FROM app.things;
        GRANT SELECT ON app.outbox TO things_app;
        """
            .formatted(before));
  }

  private static void mendOutbox() {
    database.execute(
        """
        DROP VIEW app.outbox;
        DROP FUNCTION app.unsupported();
        ALTER TABLE app.gone RENAME TO outbox;
        """);
  }

  /**
   * Makes a call with an answer recorded under its key, whose resource the outbox does not know.
   */
  private static ClaimRequest recorded(
      Execution execution, Function<ClaimRequest, ClaimResult> claiming) {
    UUID user = UUID.randomUUID();
    UUID thing = UUID.randomUUID();
    Procedure procedure =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
            .status(OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY).whenAbsent(COMPLETED).build())
            .execution(execution)
            .build();
    ClaimRequest request = Things.claimOf(user, procedure);
    database.execute("INSERT INTO app.things (id, user_id, name) VALUES (?, ?, '')", thing, user);
    ((ClaimResult.Won) claiming.apply(request)).claim().complete(Things.answer(thing));
    return request;
  }

  private static Optional<String> replayStatus(ThingServer server, String change) {
    ThingClient client = ThingClient.on(server.channel());
    Reply created = client.createThing(REQUEST);
    assertThat(created.operationStatus()).contains("processing");
    database.execute("UPDATE app.outbox SET " + change + " WHERE thing_id = ?", created.thingId());

    Reply replayed = client.createThing(REQUEST);
    assertThat(replayed.isReplay()).isTrue();
    return replayed.operationStatus();
  }
}
