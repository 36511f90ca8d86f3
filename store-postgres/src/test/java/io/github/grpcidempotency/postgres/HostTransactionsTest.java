package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;

/** A claim that is a transaction of the host, and what hosts and their handlers do with it. */
class HostTransactionsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Procedure CREATE_THING =
      Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
          .execution(Execution.TRANSACTIONAL)
          .status(
              OutboxQuery.of(PostgresThingServer.OUTBOX_QUERY)
                  .map(IdempotencyStatus.COMPLETED, "pending")
                  .build())
          .build();

  private final KeyTable table = new KeyTable(database);
  private final ThreadTransactions host;
  private final PostgresIdempotencyStore store;
  private final UUID user = UUID.randomUUID();
  private final UUID thing = UUID.randomUUID();
  private final ClaimRequest request = requestOf(user);

  HostTransactionsTest() {
    this.host = new ThreadTransactions(database.app());
    this.store = storeOn(host);
  }

  private static PostgresIdempotencyStore storeOn(HostTransactions host) {
    return PostgresIdempotencyStore.builder(database.app()).hostTransactions(host).build();
  }

  private static ClaimRequest requestOf(UUID user) {
    return Things.claimOf(user, CREATE_THING);
  }

  @AfterEach
  void nothingIsLeftOpen() {
    database.awaitAllConnectionsBack();
    assertThat(host.isActive()).isFalse();
    assertThat(
            table.count(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    + " AND state LIKE 'idle in transaction%'"))
        .isZero();
    assertThat(
            table.count(
                "SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database"
                    + " WHERE d.datname = current_database() AND l.locktype = 'advisory'"))
        .isZero();
  }

  @Test
  void anOutboxThatFailsIsReportedAsProcessingAndTheHostsTransactionIsOver() {
    Claim claim = win();
    insert(host.handle(), thing);
    claim.complete(Things.answer(thing));
    Procedure broken =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
            .execution(Execution.TRANSACTIONAL)
            .status(OutboxQuery.of("SELECT 1 / 0 FROM app.things WHERE id = :resource_id").build())
            .build();

    ClaimResult again =
        storeOn(host)
            .claimInTransaction(Things.claimOf(request.key(), broken, request.fingerprint()));

    assertThat(((ClaimResult.Recorded) again).status()).isEmpty();
  }

  @Test
  void theRecordIsWrittenAfterTheHostsDeferredChanges() {
    Claim claim = win();
    host.atFlush(handle -> insert(handle, thing));

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.DONE);

    assertThat(table.joined(user)).isTrue();
    assertThat(claim.transaction().orElseThrow().isTaken()).isTrue();
  }

  @Test
  void aLateFlushThatFailsRollsBackAndARetryRuns() {
    Claim claim = win();
    insert(host.handle(), thing);
    host.atFlush(handle -> insert(handle, thing));

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);

    assertNothingIsLeft();
  }

  /** The database checks it at the commit only, and the host then does not know the outcome. */
  @Test
  void aConstraintThatFailsAtTheCommitRollsBackAndARetryRuns() {
    database.execute("CREATE TABLE IF NOT EXISTS app.parts (id uuid PRIMARY KEY)");
    database.execute(
        "CREATE TABLE IF NOT EXISTS app.wholes (part uuid REFERENCES app.parts"
            + " DEFERRABLE INITIALLY DEFERRED)");
    database.execute("GRANT INSERT ON app.wholes TO things_app");
    Claim claim = win();
    host.handle().execute("INSERT INTO app.wholes VALUES (?)", thing);

    assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.ROLLED_BACK);

    assertNothingIsLeft();
  }

  @Test
  void aSuspensionOfTheClaimsTransactionIsReportedAndTheOtherEffectStays() {
    Claim claim = win();
    insert(host.handle(), thing);
    assertThat(claim.transaction().orElseThrow().wasSuspended()).isFalse();
    UUID beside = UUID.randomUUID();
    host.inNew(() -> ThingHandlers.insert(host.handle(), user, thingOf(beside)));
    host.setRollbackOnly();

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);

    assertThat(claim.transaction().orElseThrow().wasSuspended()).isTrue();
    assertThat(table.thingsOf(user)).containsExactly(beside);
  }

  // What a handler has used

  private static Stream<Named<Consumer<Handle>>> uses() {
    return Stream.of(
        Named.of("writes", handle -> insert(handle, UUID.randomUUID())),
        Named.of("reads", handle -> handle.select("SELECT id FROM app.things").mapToMap().list()),
        Named.of("locks", handle -> handle.execute("LOCK TABLE app.things IN ROW SHARE MODE")));
  }

  @ParameterizedTest
  @MethodSource("uses")
  void aHandlerThatUsesTheHostsTransactionHasTakenIt(Consumer<Handle> use) {
    for (boolean clearing : List.of(false, true)) {
      Claim claim = clearing ? winExpired() : win();
      use.accept(host.handle());

      assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.DONE);

      assertThat(claim.transaction().orElseThrow().isTaken()).isTrue();
    }
  }

  @Test
  void aHandlerThatWritesElsewhereHasNotTakenIt() {
    for (boolean clearing : List.of(false, true)) {
      Claim claim = clearing ? winExpired() : win();
      database.execute("SELECT count(*) FROM app.things");
      host.handle().execute("SELECT 'nothing of the database'");

      assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.DONE);

      assertThat(claim.transaction().orElseThrow().isTaken()).isFalse();
    }
  }

  /** A host such as JPA may hold back until the commit all that its handler has written. */
  @Test
  void aHandlerThatFailsIsNotReported() {
    Claim claim = win();
    assertThat(claim.transaction().orElseThrow().isTaken()).isTrue();

    assertThat(claim.release()).isEqualTo(Settled.DONE);
    assertThat(claim.transaction().orElseThrow().isTaken()).isTrue();
  }

  // Misuse

  private static Stream<Named<Consumer<ThreadTransactions>>> endings() {
    return Stream.of(
        Named.of(
            "commit", host -> ThreadTransactions.sql(() -> host.required().connection().commit())),
        Named.of(
            "rollback",
            host -> ThreadTransactions.sql(() -> host.required().connection().rollback())),
        Named.of("COMMIT", host -> host.handle().execute("COMMIT")),
        Named.of(
            "autocommit",
            host -> ThreadTransactions.sql(() -> host.required().connection().setAutoCommit(true))),
        Named.of("the host's commit", host -> host.required().commit(() -> {})));
  }

  @ParameterizedTest
  @MethodSource("endings")
  void aHandlerThatEndsTheHostsTransactionFailsTheCall(Consumer<ThreadTransactions> ending) {
    Claim claim = win();
    insert(host.handle(), thing);
    ending.accept(host);

    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(() -> claim.complete(Things.ANSWER))
        .withMessageContaining("the handler has ended its transaction");
    assertThat(table.rowsOf(user)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aHandlerThatCommitsAndBeginsAnewForTheUserFailsTheCall(boolean hidden) {
    if (hidden) {
      host.view(HostTransactionsTest::hidden);
    }
    Claim claim = win();
    insert(host.handle(), thing);
    host.handle().execute("COMMIT");
    ThingHandlers.insert(host.handle(), user, thingOf(UUID.randomUUID()));

    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(() -> claim.complete(Things.ANSWER))
        .withMessageContaining("the handler has ended its transaction");
    assertThat(table.rowsOf(user)).isEmpty();
    assertThat(table.thingsOf(user)).containsExactly(thing);
  }

  @Test
  void aTransactionThatTheHostHasRolledBackIsRolledBack() {
    Claim claim = win();
    insert(host.handle(), thing);
    host.required().rollback();

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);

    assertNothingIsLeft();
  }

  @Test
  void aStatementThatFailedRollsBackEvenIfTheConnectionIsHidden() {
    for (boolean hidden : List.of(false, true)) {
      host.view(connection -> hidden ? hidden(connection) : connection);
      Claim claim = win();
      insert(host.handle(), thing);
      try {
        host.handle().execute("SELECT 1 / 0");
      } catch (RuntimeException ignored) {
        // as a handler does that answers OK all the same
      }

      assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);
    }
    assertNothingIsLeft();
  }

  @Test
  void aConnectionThatTheHostHidesIsAccepted() {
    host.view(HostTransactionsTest::hidden);
    Claim claim = win();
    insert(host.handle(), thing);

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.DONE);

    assertThat(table.joined(user)).isTrue();
  }

  @Test
  void aConnectionThatWasClosedIsLost() throws SQLException {
    Claim claim = win();
    insert(host.handle(), thing);
    host.required().connection().rollback();
    host.required().connection().close();

    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> claim.complete(Things.answer(thing)))
        .withMessageContaining("closed")
        .returns(FailureCause.CONNECTION_LOST, StoreException::failureCause);
    assertNothingIsLeft();
  }

  @Test
  void onlyTheThreadThatHasClaimedEndsTheHostsTransaction() {
    Claim claim = win();
    insert(host.handle(), thing);

    CompletableFuture.runAsync(
            () -> {
              assertThatIllegalStateException()
                  .isThrownBy(() -> claim.complete(Things.answer(thing)))
                  .withMessageContaining("the thread that began it");
              claim.transaction().orElseThrow().rollback();
            })
        .join();
    assertThat(host.isActive()).isTrue();

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);
    assertNothingIsLeft();
  }

  // Handlers that are given up

  @Test
  void aGivenUpHandlerLosesItsConnectionAndItsThreadEndsTheTransaction() {
    Claim claim = win();
    insert(host.handle(), thing);

    CompletableFuture.runAsync(claim::close).join();

    assertThat(host.isActive()).isTrue();
    assertThatThrownBy(() -> insert(host.handle(), UUID.randomUUID()))
        .isInstanceOf(JdbiException.class);
    assertThatThrownBy(() -> Things.connectionOf(claim).createStatement())
        .isInstanceOf(SQLException.class)
        .hasMessageContaining("was given up");
    claim.close();
    assertNothingIsLeft();
  }

  /** The host may have given the connection to the next call. */
  @Test
  void aConnectionThatTheHostIsGivingBackIsNotAborted() {
    Claim claim = win();
    insert(host.handle(), thing);
    int backend = host.handle().select("SELECT pg_backend_pid()").mapTo(Integer.class).one();
    host.step(
        step -> {
          if (step.equals("committed")) {
            CompletableFuture.runAsync(claim::close).join();
          }
        });

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.DONE);

    assertThat(
            table.count("SELECT count(*) FROM pg_stat_activity WHERE pid = %d".formatted(backend)))
        .isEqualTo(1);
  }

  // Errors of the host, and of what applications register with it

  @Test
  void anErrorBeforeTheRecordRollsBackAndFreesTheThread() {
    host.step(failingAt("flush"));
    Claim claim = win();
    insert(host.handle(), thing);

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.ROLLED_BACK);

    assertNothingIsLeft();
  }

  /** The host does not say whether it has failed before its commit or after it. */
  @ParameterizedTest
  @ValueSource(strings = {"commit", "committed"})
  void anErrorAfterTheRecordLeavesTheOutcomeUnknownAndFreesTheThread(String where) {
    host.step(failingAt(where));
    Claim claim = win();
    insert(host.handle(), thing);

    assertThatTheOutcomeIsUnknown(claim);

    if (where.equals("committed")) {
      assertThat(claim()).isInstanceOf(ClaimResult.Recorded.class);
    } else {
      assertNothingIsLeft();
    }
  }

  private static Consumer<String> failingAt(String where) {
    return step -> {
      if (step.equals(where)) {
        throw new NoSuchMethodError(where);
      }
    };
  }

  @Test
  void anErrorBetweenTheBeginAndTheClaimFreesTheThread() {
    host.view(
        connection -> {
          throw new NoSuchMethodError();
        });

    assertThatThrownBy(this::claim).isInstanceOf(NoSuchMethodError.class);
    assertThat(host.isActive()).isFalse();
    host.behave();
    assertNothingIsLeft();
  }

  // Lost races, and hosts that fail

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theUniqueIndexDecidesTheRaceForEveryExceptionOfTheHost(boolean opaque) {
    if (opaque) {
      host.opaque();
    }
    Claim claim = win();
    insert(host.handle(), thing);
    table.reserve(request);

    assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.LOST);

    assertThat(table.thingsOf(user)).isEmpty();
  }

  @Test
  void aCommitWithoutTheRecordIsReported() {
    host.forgetful();

    assertThatTheLossIsReported();
  }

  private void assertThatTheLossIsReported() {
    Claim claim = win();
    insert(host.handle(), thing);

    try (LogLines log = LogLines.listen()) {
      assertThatExceptionOfType(TransactionMisuseException.class)
          .isThrownBy(() -> claim.complete(Things.answer(thing)))
          .withMessageContaining("committed without a record");
      assertThat(log.all()).anyMatch(line -> line.contains("ERROR"));
    }
  }

  /** With such savepoints, a transaction can be committed although a statement has failed. */
  @Test
  void aCommitAlthoughTheRecordFailedIsReported() {
    host.settings(
        connection ->
            ThreadTransactions.sql(
                () -> connection.unwrap(PGConnection.class).setAutosave(AutoSave.ALWAYS)));
    host.swallowing();
    Claim claim = win();
    insert(host.handle(), thing);
    table.reserve(request);

    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(() -> claim.complete(Things.answer(thing)))
        .withMessageContaining("committed without a record");
    assertThat(table.thingsOf(user)).containsExactly(thing);
  }

  /** A host may have several data sources, and the state of another one says nothing about ours. */
  @ParameterizedTest
  @CsvSource({"commit, 23505", "committed, 23505", "commit, 40001", "committed, 40001"})
  void aFailureOfAnotherDataSourceLeavesTheOutcomeUnknown(String where, String state) {
    host.step(
        step -> {
          if (step.equals(where)) {
            throw new ThreadTransactions.HostException(
                new SQLException("of another data source", state));
          }
        });
    Claim claim = win();
    insert(host.handle(), thing);

    assertThatTheOutcomeIsUnknown(claim);
  }

  @Test
  void anUnknownOutcomeOfTheHostsCommitIsReported() {
    host.saying(HostTransaction.Completion.UNKNOWN);
    Claim claim = win();
    insert(host.handle(), thing);

    assertThatTheOutcomeIsUnknown(claim);
    assertThat(claim()).as("it was committed").isInstanceOf(ClaimResult.Recorded.class);
  }

  private static void assertThatTheOutcomeIsUnknown(Claim claim) {
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> claim.complete(Things.ANSWER))
        .withMessageContaining("does not know")
        .returns(FailureCause.CONNECTION_LOST, StoreException::failureCause)
        .returns(FailurePhase.HANDLER_DONE, StoreException::phase);
  }

  @Test
  void neitherAHostWithoutAConnectionNorAFullPoolIsAnOutageOfTheStore() throws SQLException {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource cut = PostgresThingServer.pool(proxy.jdbcUrl());
        HikariDataSource small = PostgresThingServer.pool(database.appUrl())) {
      proxy.refuse();
      small.setMaximumPoolSize(1);
      small.setConnectionTimeout(250);
      cut.setConnectionTimeout(250);
      try (Connection taken = small.getConnection()) {
        assertThat(taken.isClosed()).isFalse();
        assertThatClaimingOn(new ThreadTransactions(cut), FailureCause.NO_LOGIN);
        assertThatClaimingOn(new ThreadTransactions(small), FailureCause.POOL_EXHAUSTED);
      }
    }
  }

  private void assertThatClaimingOn(HostTransactions transactions, FailureCause cause) {
    PostgresIdempotencyStore other = storeOn(transactions);
    for (Runnable call :
        List.<Runnable>of(
            () -> other.claimInTransaction(request), () -> other.begin(Optional.empty()))) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(call::run)
          .returns(cause, StoreException::failureCause);
    }
  }

  @Test
  void aHostWithoutTransactionsIsRefusedBeforeAnyHandlerRuns() {
    ThreadTransactions careless =
        new ThreadTransactions(database.app()).view(HostTransactionsTest::inAutoCommit);

    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> storeOn(careless).claimInTransaction(request))
        .withStackTraceContaining("autocommit mode")
        .returns(FailureCause.OTHER, StoreException::failureCause);
    assertThat(careless.isActive()).isFalse();
  }

  @Test
  void aReadOnlyTransactionOfTheHostIsRefusedUnlessThereIsARecord() {
    Claim claim = win();
    claim.complete(Things.ANSWER);
    host.settings(connection -> ThreadTransactions.sql(() -> connection.setReadOnly(true)));

    assertThat(claim()).isInstanceOf(ClaimResult.Recorded.class);
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> store.claimInTransaction(requestOf(user)))
        .returns(FailureCause.READ_ONLY, StoreException::failureCause);
    assertThat(host.isActive()).isFalse();
  }

  // Calls without a key, and calls as a server makes them

  @Test
  void aCallWithoutAKeyHasATransactionOfTheHostToo() {
    StoreTransaction transaction = store.begin(Optional.of(Caller.of(user)));
    insert(host.handle(), thing);
    assertThat(transaction.commit()).isEqualTo(Settled.DONE);
    assertThat(table.thingsOf(user)).containsExactly(thing);

    StoreTransaction undone = store.begin(Optional.of(Caller.of(user)));
    insert(host.handle(), UUID.randomUUID());
    undone.rollback();
    assertThat(table.thingsOf(user)).containsExactly(thing);
  }

  @Test
  void handlersReachTheHostsTransactionByClaimTransactionAsWell() {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .hostTransactions(host)
                .transactional(
                    (created, answer) -> {
                      assertThatIllegalStateException()
                          .isThrownBy(() -> ClaimTransaction.connection().commit());
                      ThingHandlers.transactional().create(created, answer);
                    })
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(Things.named("a thing"));
      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(table.joined(client.user())).isTrue();
      assertThat(client.createThing(Things.named("a thing")).isReplay()).isTrue();
      assertThat(client.withoutKey().createThing(Things.named("another")).isOk()).isTrue();
      assertThat(server.runs()).isEqualTo(2);
      assertThat(server.events()).doesNotContain(Kind.UNPROTECTED);
    }
  }

  // Speed, and races

  @Test
  void theHostsTransactionAddsFewRoundTripsToTheHandlersStatements() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThreadTransactions counted = new ThreadTransactions(proxied);
      PostgresIdempotencyStore counting =
          PostgresIdempotencyStore.builder(proxied).hostTransactions(counted).build();
      ((ClaimResult.Won) counting.claimInTransaction(requestOf(user))).claim().release();
      proxy.forgetRoundTrips();

      Claim claim = ((ClaimResult.Won) counting.claimInTransaction(request)).claim();
      assertThat(proxy.roundTrips()).as("claim").hasSize(1);
      insert(counted.handle(), thing);
      proxy.forgetRoundTrips();
      assertThat(claim.complete(Things.answer(thing))).isEqualTo(Settled.DONE);
      assertThat(proxy.roundTrips()).as("record and commit").hasSize(2);
      assertThat(proxy.roundTrips().get(0)).contains("INSERT INTO idempotency.idempotency_keys");
      assertThat(proxy.roundTrips()).last().asString().contains("COMMIT");

      proxy.forgetRoundTrips();
      counting.claimInTransaction(request);
      assertThat(proxy.roundTrips()).as("replay: claim, outbox, rollback").hasSize(3);

      proxy.forgetRoundTrips();
      ((ClaimResult.Won) counting.claimInTransaction(requestOf(user))).claim().release();
      assertThat(proxy.roundTrips()).as("claim and release").hasSize(2);
    }
  }

  // Faults

  /** The setting is what a framework sends first, such as an isolation level. */
  @ParameterizedTest
  @ValueSource(strings = {"a setting", "pg_try_advisory_xact_lock"})
  void aConnectionThatHasDiedInTheHostsPoolIsReplacedOnce(String statement) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThreadTransactions cut =
          new ThreadTransactions(proxied)
              .settings(connection -> Jdbi.open(connection).execute("SELECT 'a setting'"));
      FaultProxy.Trap trap = proxy.cutBefore(statement);

      ClaimResult result = storeOn(cut).claimInTransaction(request);

      assertThat(trap.hasSprung()).isTrue();
      assertThat(((ClaimResult.Won) result).claim().release()).isEqualTo(Settled.DONE);
      assertThat(cut.isActive()).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConnectionCutAtTheCommitLeavesTheOutcomeUnknown(boolean committed) {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThreadTransactions cut = new ThreadTransactions(proxied);
      Claim claim = ((ClaimResult.Won) storeOn(cut).claimInTransaction(request)).claim();
      insert(cut.handle(), thing);
      FaultProxy.Trap trap = committed ? proxy.cutAfter("COMMIT") : proxy.cutBefore("COMMIT");

      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> claim.complete(Things.answer(thing)))
          .returns(FailureCause.CONNECTION_LOST, StoreException::failureCause);

      assertThat(trap.hasSprung()).isTrue();
      assertThat(cut.isActive()).isFalse();
    }
    if (committed) {
      assertThat(claim()).isInstanceOf(ClaimResult.Recorded.class);
      assertThat(table.thingsOf(user)).containsExactly(thing);
    } else {
      assertNothingIsLeft();
    }
  }

  /** Whether the handler has failed because of another call is then unknown. */
  @Test
  void aClaimAtCommitIsPreemptedIfTheLookForItsOwnerThrowsAnError() {
    AtomicBoolean defective = new AtomicBoolean();
    PostgresIdempotencyStore failing =
        PostgresIdempotencyStore.builder(database.app())
            .hostTransactions(host)
            .through(pool -> throwing(pool, defective))
            .build();
    Claim first = win();
    insert(host.handle(), thing);
    assertThat(first.complete(Things.answer(thing))).isEqualTo(Settled.DONE);
    Claim claim = failing.claimAtCommit(request);
    defective.set(true);

    assertThat(claim.release()).isEqualTo(Settled.PREEMPTED);
  }

  // What the tests say

  private ClaimResult claim() {
    return store.claimInTransaction(request);
  }

  private Claim win() {
    return ((ClaimResult.Won) claim()).claim();
  }

  /** Wins a key by deleting its expired record. */
  private Claim winExpired() {
    table.expire(user);
    return win();
  }

  private void assertNothingIsLeft() {
    assertThat(host.isActive()).isFalse();
    assertThat(table.rowsOf(user)).isEmpty();
    assertThat(table.thingsOf(user)).isEmpty();
    await()
        .until(
            () -> {
              ClaimResult retried = claim();
              return retried instanceof ClaimResult.Won won
                  && won.claim().release() == Settled.DONE;
            });
  }

  /** Writes for the user that the claim has set. */
  private static void insert(Handle handle, UUID thing) {
    handle.execute("INSERT INTO app.things (id, name) VALUES (?, 'a thing')", thing);
  }

  private static Thing thingOf(UUID id) {
    return Thing.newBuilder().setId(id.toString()).build();
  }

  /** Returns a connection that does not let anybody see the driver's. */
  static Connection hidden(Connection connection) {
    return proxy(
        connection,
        (method, result) ->
            switch (method) {
              case "isWrapperFor" -> false;
              case "unwrap" -> throw new SQLException("nothing is wrapped here");
              default -> result.get();
            });
  }

  /** Returns a connection that no transaction manager manages. */
  private static Connection inAutoCommit(Connection connection) {
    return proxy(
        connection, (method, result) -> method.equals("getAutoCommit") ? true : result.get());
  }

  /** Returns a pool that throws, if it is defective, what no pool should throw. */
  private static DataSource throwing(DataSource pool, AtomicBoolean defective) {
    return (DataSource)
        Proxy.newProxyInstance(
            HostTransactionsTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              if (defective.get()) {
                throw new NoClassDefFoundError("on purpose");
              }
              return method.invoke(pool, arguments);
            });
  }

  private interface Call {
    Object get() throws Throwable;
  }

  private interface Answer {
    Object to(String method, Call call) throws Throwable;
  }

  private static Connection proxy(Connection connection, Answer answer) {
    return (Connection)
        Proxy.newProxyInstance(
            HostTransactionsTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                answer.to(
                    method.getName(),
                    () -> {
                      try {
                        return method.invoke(connection, arguments);
                      } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                      }
                    }));
  }
}
