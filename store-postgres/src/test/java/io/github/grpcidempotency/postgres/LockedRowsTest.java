package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.postgres.internal.claim.JoinedCompletion;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Statements of the library that meet a locked row, or take long. */
class LockedRowsTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final String KEYS = "idempotency.idempotency_keys";

  /** Parts of other files. The flush that contains them is bounded. */
  private static final List<String> PARTS =
      List.of(
          "claim/delete_expired.sql",
          "claim/select_record.sql",
          "maintenance/wake.sql",
          "maintenance/wake_batch.sql",
          "settle/update.sql");

  /**
   * Files without a bound of their statements' time: they read and write rows whose keys or ids
   * they know, or only settings. Those of transactions must not have one: PostgreSQL would end a
   * commit's wait for a synchronous standby too, and report the commit as done.
   */
  private static final Pattern SHORT =
      Pattern.compile(
          "claim/(claim|claim_batch|delete_expired|extend|find|retain|select_record|take_over|time_line)"
              + "|settle/(complete|complete_batch|is_completed|is_open|join|lock|mark_unknown|refer|release"
              + "|release_batch|same_time_line|same_time_line_batch|update)"
              + "|transaction/(begin|claim|claim_at_commit|delete_ended|find_owner|may_record|record"
              + "|record_failure|rollback_with_status|taken|use)"
              + "|maintenance/(announce_waits|wake|wake_batch)"
              + "|operation/forget"
              + "|check/(fact|flush|leak|place|pool|probe_foreign|probe_forget|probe_refusal|time_line)");

  private final KeyTable table = new KeyTable(database);
  private final UUID user = UUID.randomUUID();
  private final ClaimRequest request = Things.claimOf(user, Things.CREATE_THING);
  private final PostgresIdempotencyStore store =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();

  @Test
  void aSettlementOfALockedRowFailsAsContentionAndCanBeRepeated() {
    Claim claim = Things.win(store, request);
    try (Handle other = lock(claim.operationId())) {
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> claim.complete(Things.ANSWER))
          .satisfies(
              failure -> assertThat(failure.failureCause()).isEqualTo(FailureCause.CONTENTION));
      other.rollback();
    }

    assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  @Test
  void aTransactionalClaimDoesNotWaitForAnAbandonedReservationThatIsLocked() {
    Claim crashed = Things.win(store, request);
    table.endLeases(user);
    try (Handle other = lock(crashed.operationId())) {
      assertThat(store.claimInTransaction(request)).isInstanceOf(ClaimResult.InFlight.class);
      other.rollback();
    }

    ClaimResult free = store.claimInTransaction(request);

    assertThat(free).isInstanceOf(ClaimResult.Won.class);
    assertThat(((ClaimResult.Won) free).claim().release()).isEqualTo(Settled.DONE);
  }

  @Test
  void aRecordInAHostsTransactionLeavesTheHostsSettings() {
    ThreadTransactions host = new ThreadTransactions(database.app());
    AtomicReference<String> settings = new AtomicReference<>();
    PostgresIdempotencyStore hosted =
        PostgresIdempotencyStore.builder(database.app()).hostTransactions(host).build();

    Claim claim = ((ClaimResult.Won) hosted.claimInTransaction(request)).claim();
    host.handle().execute("SET LOCAL lock_timeout = '77s'");
    host.handle().execute("SET LOCAL plan_cache_mode = force_custom_plan");
    host.step(
        step -> {
          if (step.equals("commit")) {
            settings.set(
                host.handle()
                    .createQuery(
                        "SELECT concat_ws(' ', current_setting('lock_timeout'),"
                            + " current_setting('plan_cache_mode'))")
                    .mapTo(String.class)
                    .one());
          }
        });

    assertThat(claim.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
    assertThat(settings).hasValue("77s force_custom_plan");
  }

  @Test
  void aTransactionThatANewPrimaryHasNotReachedIsNotOpen() {
    JoinedCompletion joined = ((Reservation) Things.win(store, request)).joined();

    Jdbi.create(database.app())
        .useTransaction(
            handle -> {
              String own =
                  handle.createQuery("SELECT pg_current_xact_id()").mapTo(String.class).one();
              String ofOldPrimary = Long.toString(Long.parseLong(own) + 1_000_000);

              assertThat(joined.isOpen(handle.getConnection(), own)).isTrue();
              assertThat(joined.isOpen(handle.getConnection(), ofOldPrimary)).isFalse();
            });
  }

  @Test
  void aCallThatIsGivenUpWhileItsRowIsLockedDoesNotKeepOtherLeasesFromBeingRenewed() {
    Queue<StreamObserver<Thing>> unanswered = new ConcurrentLinkedQueue<>();
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .lease(Duration.ofMillis(600))
                .handler((request, answer) -> unanswered.add(answer))
                .start();
        ThingClient forgotten = ThingClient.to(server.port());
        ThingClient running = ThingClient.to(server.port())) {
      CompletableFuture<Reply> first = forgotten.startThing(Things.named("a thing"));
      await().until(() -> unanswered.size() == 1);
      CompletableFuture<Reply> second = running.startThing(Things.named("a thing"));
      await().until(() -> unanswered.size() == 2);
      UUID locked = idOf(forgotten.user());
      try (Handle other = lock(locked)) {
        first.cancel(true);
        await().until(() -> database.blocked() == 1);
        OffsetDateTime lease = table.leaseEnd(running.user());

        await().until(() -> table.leaseEnd(running.user()).isAfter(lease));

        assertThat(database.blocked()).isOne();
        other.rollback();
      }
      unanswered.remove();
      ThingHandler.answer(
          unanswered.remove(),
          Thing.newBuilder().setId(UUID.randomUUID().toString()).setName("a thing").build());
      assertThat(second.join().isOk()).isTrue();
    }
  }

  @Test
  void everyFlushThatLocksATableIsBoundedBefore() throws Exception {
    Path folder = Path.of("src/main/resources/io/github/grpcidempotency/postgres/sql");
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(
              files
                  .filter(file -> file.toString().endsWith(".sql"))
                  .filter(file -> waitsWithoutBound(read(file)))
                  .map(file -> folder.relativize(file).toString().replace('\\', '/')))
          .containsExactlyInAnyOrderElementsOf(PARTS);
    }
  }

  @Test
  void everyStatementThatMayTakeLongIsEndedByTheServer() throws Exception {
    Path folder = Path.of("src/main/resources/io/github/grpcidempotency/postgres/sql");
    try (Stream<Path> files = Files.walk(folder)) {
      assertThat(
              files
                  .filter(file -> file.toString().endsWith(".sql"))
                  .filter(file -> !read(file).contains("${statement_timeout}"))
                  .map(file -> folder.relativize(file).toString().replace('\\', '/'))
                  .map(file -> file.replace(".sql", "")))
          .isNotEmpty()
          .allMatch(file -> SHORT.matcher(file).matches());
    }
  }

  @Test
  void theServerEndsAStatementOfAFlushThatHasSetItsLimit() throws Exception {
    String limit = SqlFiles.WITHOUT_SCHEMA.load("check/tables").split(";")[0];

    assertThatExceptionOfType(JdbiException.class)
        .isThrownBy(
            () ->
                inOneFlush(
                    "SELECT set_config('statement_timeout', '100ms', true); SELECT pg_sleep(600)"))
        .satisfies(
            failure -> assertThat(Failures.causeOf(failure)).isEqualTo(FailureCause.TIMEOUT));
    for (String longer : List.of("0", "2h")) {
      assertThat(
              limitAfter("SELECT set_config('statement_timeout', '" + longer + "', true)", limit))
          .isEqualTo("1min");
    }
    assertThat(limitAfter("SELECT set_config('statement_timeout', '5s', true)", limit))
        .isEqualTo("5s");
  }

  private static String limitAfter(String host, String limit) throws SQLException {
    return inOneFlush(host + "; " + limit + "; SELECT current_setting('statement_timeout')");
  }

  private static String inOneFlush(String sql) throws SQLException {
    try (Connection connection = database.app().getConnection()) {
      return StatementBatch.run(connection, sql, values -> values, row -> row.getString(1))
          .orElseThrow();
    }
  }

  @Test
  void everyFunctionThatLocksATableForTheApplicationIsBounded() {
    String unbounded =
        """
        SELECT COALESCE(string_agg(p.proname, ', '), '')
          FROM pg_proc AS p
         WHERE p.pronamespace = 'idempotency'::regnamespace
           AND p.prosecdef
           AND NOT 'lock_timeout=2s' = ANY (p.proconfig)
        """;

    assertThat(database.one(String.class, unbounded)).isEmpty();
  }

  @Test
  void noBackendWaitsForALockedTableOnceItsClientHasGivenUp() {
    try (Handle other = database.superuser().open();
        HikariDataSource pool = PostgresThingServer.pool(database.appUrl() + "&socketTimeout=1");
        PostgresIdempotencyStore impatient = PostgresIdempotencyStore.builder(pool).build()) {
      other.begin();
      other.execute("LOCK TABLE " + KEYS + " IN ACCESS EXCLUSIVE MODE");
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> impatient.claimInTransaction(request));
      assertThatExceptionOfType(StoreException.class).isThrownBy(() -> impatient.claim(request));

      await().until(() -> database.blocked() == 0);

      other.rollback();
    }
  }

  @Test
  void aTransactionalClaimOfALockedTableEndsAsContention() {
    try (Handle other = database.superuser().open()) {
      other.begin();
      other.execute("LOCK TABLE " + KEYS + " IN ACCESS EXCLUSIVE MODE");

      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> store.claimInTransaction(request))
          .satisfies(
              failure -> assertThat(failure.failureCause()).isEqualTo(FailureCause.CONTENTION));

      other.rollback();
    }
  }

  @Test
  void aTransactionalClaimLeavesTheHandlersLockTimeout() throws Exception {
    Claim claim = ((ClaimResult.Won) store.claimInTransaction(request)).claim();

    assertThat(lockTimeoutIn(claim)).isEqualTo("0");
    claim.release();
  }

  @Test
  void aTransactionalClaimThatDeletesAnAbandonedRowLeavesTheHandlersLockTimeout() throws Exception {
    Things.win(store, request);
    table.endLeases(user);
    Claim claim = ((ClaimResult.Won) store.claimInTransaction(request)).claim();

    assertThat(lockTimeoutIn(claim)).isEqualTo("0");
    claim.release();
  }

  @Test
  void aLockOfTheHandlersOwnTransactionLeavesItsLockTimeout() {
    JoinedCompletion joined = ((Reservation) Things.win(store, request)).joined();

    Jdbi.create(database.app())
        .useTransaction(
            handle -> {
              handle.execute("SET LOCAL lock_timeout = '77s'");
              joined.lockWithin(handle.getConnection());
              assertThat(handle.createQuery("SHOW lock_timeout").mapTo(String.class).one())
                  .isEqualTo("77s");
            });
  }

  private static String lockTimeoutIn(Claim claim) throws SQLException {
    Connection connection = Things.connectionOf(claim);
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW lock_timeout")) {
      row.next();
      return row.getString(1);
    }
  }

  private static boolean waitsWithoutBound(String sql) {
    int table = sql.indexOf("\"${schema}\".idempotency_");
    int bound = sql.indexOf("lock_timeout}");
    return table >= 0 && (bound < 0 || bound > table);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static UUID idOf(UUID user) {
    return database.one(UUID.class, "SELECT id FROM " + KEYS + " WHERE user_uuid = ?", user);
  }

  /** Locks a row, as a handler's own transaction does, until the handle is closed. */
  private static Handle lock(UUID operation) {
    Handle handle = database.superuser().open();
    handle.begin();
    handle.execute("SELECT FROM " + KEYS + " WHERE id = ? FOR UPDATE", operation);
    return handle;
  }
}
