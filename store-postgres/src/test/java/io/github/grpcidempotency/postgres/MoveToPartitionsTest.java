package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A table moves to partitions while servers use it. */
class MoveToPartitionsTest {
  private static final String MOVE = "CALL idempotency.move_to_partitions(4, 100)";
  private static final String ABORT = "CALL idempotency.abort_move()";
  private static final Duration LIVE = Duration.ofDays(1);

  /** With these, a client sends its call again. */
  private static final Set<Status.Code> RETRYABLE =
      Set.of(Status.Code.ABORTED, Status.Code.UNAVAILABLE);

  private final TestDatabase database = TestDatabase.create();
  private final KeyTable table = new KeyTable(database);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @BeforeEach
  void createFunctions() {
    TestDatabase.createPartitionFunctions(database.owner());
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    database.close();
  }

  /** What one client has seen of one key. */
  private record Answered(ThingClient client, CreateThingRequest request, Reply reply) {}

  /**
   * The move is killed time and again, and taken up again; a server is started meanwhile; sweeps
   * and deletions of resources go on. No key has two effects, and no answer is lost.
   */
  @Test
  @Tag("torture")
  void callsGoOnWhileTheTableMovesAndIsInterrupted() throws Exception {
    table.add(2_000, LIVE);
    table.add(500, Duration.ofDays(-1));
    AtomicBoolean moved = new AtomicBoolean();
    List<Answered> answered = new ArrayList<>();
    try (ThingServer reserved = PostgresThingServer.on(database.app()).start();
        ThingServer completing =
            PostgresThingServer.on(database.newAppPool())
                .createThing(thing -> thing.execution(Execution.RESERVED))
                .handler(ThingHandlers.completing(database.app()))
                .start();
        ThingServer transactional =
            PostgresThingServer.on(database.newAppPool()).transactional().start();
        PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(database.app()).build();
        ExpirySweeper sweeper = ExpirySweeper.builder(store).batchSize(20).build()) {
      List<Future<List<Answered>>> clients = new ArrayList<>();
      for (ThingServer server : List.of(reserved, completing, transactional)) {
        for (int client = 0; client < 2; client++) {
          clients.add(threads.submit(calling(server, moved)));
        }
      }
      Future<?> deleting = threads.submit(() -> deleteThings(moved));

      Duration life = Duration.ofMillis(500);
      while (!moveUntilKilled(life)) {
        long unused = sweeper.sweep();
        life = life.plusMillis(500); // even the longest step ends
      }
      try (ThingServer late = PostgresThingServer.on(database.newAppPool()).start();
          ThingClient client = ThingClient.to(late.port())) {
        assertThat(client.createThing(Things.named("late")).isOk()).isTrue();
      }
      moved.set(true);
      for (Future<List<Answered>> client : clients) {
        answered.addAll(client.get());
      }
      deleting.get();

      assertThat(answered).hasSizeGreaterThan(clients.size());
      for (Answered call : answered) {
        Reply replay = call.client().createThing(call.request());
        assertThat(replay.isReplay()).as("%s", replay).isTrue();
        assertThat(replay.bytes()).isEqualTo(call.reply().bytes());
        assertThat(runsOf(call.request())).isOne();
      }
      answered.forEach(call -> call.client().close());
    }
    assertThat(
            table.count(
                "SELECT count(*) FROM idempotency.idempotency_keys WHERE procedure = 'a.B/C' AND"
                    + " expires > now()"))
        .isEqualTo(2_000);
    assertThat(tables())
        .containsExactly(
            "idempotency_audit",
            "idempotency_facts",
            "idempotency_keys",
            "idempotency_keys_p0",
            "idempotency_keys_p1",
            "idempotency_keys_p2",
            "idempotency_keys_p3",
            "idempotency_salt",
            "idempotency_waits");
    assertThat(strays()).isZero();
  }

  @Test
  void aMoveThatIsEndedLeavesTheTableAsItWas() throws Exception {
    table.add(500, LIVE);
    List<String> before = database.everythingIn("idempotency");
    copy();

    assertThatThrownBy(() -> owner("SELECT idempotency.partition_keys(4)"))
        .hasMessageContaining("a move to partitions is under way");
    assertThatThrownBy(() -> owner("CALL idempotency.move_to_partitions(8)"))
        .hasMessageContaining("a move to 4 partitions is under way");
    owner(ABORT);

    assertThat(database.everythingIn("idempotency")).isEqualTo(before);
    assertThat(table.size()).isEqualTo(500);
    owner(ABORT);
    owner(MOVE);
    assertThat(table.size()).isEqualTo(500);
    owner(ABORT);
    assertThat(table.size()).isEqualTo(500);
  }

  @Test
  void aMoveReportsItsStepsAndAnAbortThatThereWasNone() throws Exception {
    owner("ALTER TABLE idempotency.idempotency_keys DROP COLUMN thing_id");

    assertThat(noticesOf(MOVE))
        .extracting(notice -> notice.replaceFirst(": 0 rows$", ""))
        .containsExactly("prepare", "mirror", "copy", "check", "swap", "drop");
    assertThat(noticesOf(ABORT)).containsExactly("no move is under way, so nothing was dropped");
  }

  /** Row by row, whatever has become of it since it was copied, or before. */
  @Test
  void everyChangeReachesTheCopyInItsOwnTransaction() throws Exception {
    table.add(300, LIVE);
    copy();

    database.execute("DELETE FROM idempotency.idempotency_keys WHERE idempotency_key LIKE '%7'");
    database.execute(
        "UPDATE idempotency.idempotency_keys SET attempt = 5 WHERE idempotency_key LIKE '%3'");
    database.execute(
        "UPDATE idempotency.idempotency_keys SET idempotency_key = 'another'"
            + " WHERE idempotency_key = 'key-1'");
    table.add(10, Duration.ofDays(2));

    assertThat(differences()).isEqualTo(differencesOfRowsNotCopiedYet());
    owner(MOVE);
    assertThat(table.size()).isEqualTo(280);
  }

  /** Otherwise the copy would stay when the deletion is committed. */
  @Test
  void aRowThatIsBeingDeletedIsNotCopied() throws Exception {
    table.add(50, LIVE);
    step("prepare");
    step("mirror");
    try (Connection deleting = database.superuser().open().getConnection();
        Statement statement = deleting.createStatement()) {
      deleting.setAutoCommit(false);
      statement.execute("DELETE FROM idempotency.idempotency_keys WHERE idempotency_key = 'key-1'");

      assertThat(nextStep()).containsEntry("step", "copy").containsEntry("waited", true);
      deleting.commit();
    }
    owner(MOVE);
    assertThat(table.size()).isEqualTo(49);
  }

  /** As where a subscription of logical replication writes. */
  @Test
  void aSessionThatFiresNoTriggersIsMirroredAsWell() throws Exception {
    table.add(50, LIVE);
    copy();
    database.execute(
        "SET LOCAL session_replication_role = replica;"
            + " DELETE FROM idempotency.idempotency_keys WHERE idempotency_key = 'key-1'");
    owner(MOVE);
    assertThat(table.size()).isEqualTo(49);
  }

  /** A transaction that does not see the copy of its row must not leave it behind. */
  @Test
  void aDeletionThatCannotSeeTheCopyFails() throws Exception {
    table.add(300, LIVE);
    step("prepare");
    step("mirror");
    try (Connection older = database.owner().getConnection();
        Statement statement = older.createStatement()) {
      older.setAutoCommit(false);
      older.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      statement.execute("SELECT set_config('idempotency.operator', 'on', true)");
      step("copy");

      assertThatThrownBy(() -> statement.execute("DELETE FROM idempotency.idempotency_keys"))
          .isInstanceOfSatisfying(
              SQLException.class, failure -> assertThat(failure.getSQLState()).isEqualTo("40001"));
      older.rollback();
    }
    owner(MOVE);
    assertThat(table.size()).isEqualTo(300);
  }

  @Test
  void aCopyThatDiffersIsNotSwapped() throws Exception {
    table.add(50, LIVE);
    copy();
    database.execute(
        "DELETE FROM idempotency.idempotency_keys_twin WHERE idempotency_key = 'key-1'");
    database.execute(
        "UPDATE idempotency.idempotency_keys_twin SET attempt = 9 WHERE idempotency_key = 'key-2'");

    assertThatThrownBy(() -> owner(MOVE))
        .hasMessageContaining("2 rows of the twin differ from those of");
    owner(ABORT);
    assertThat(table.size()).isEqualTo(50);
  }

  /** The owner would copy what it sees, and compare what it sees. */
  @Test
  void aPolicyThatHidesRowsFromTheOwnerStopsTheMove() {
    table.add(50, LIVE);
    for (String change :
        List.of(
            "CREATE POLICY few ON idempotency.idempotency_keys AS RESTRICTIVE USING (attempt > 1)",
            "DROP POLICY few ON idempotency.idempotency_keys;"
                + " ALTER POLICY operators ON idempotency.idempotency_keys USING (attempt > 1)",
            "DROP POLICY operators ON idempotency.idempotency_keys")) {
      database.execute(change);
      assertThatThrownBy(() -> owner(MOVE)).hasMessageContaining("polic");
    }
    assertThat(tables()).doesNotContain("idempotency_keys_p0");
  }

  @Test
  void aTableThatIsAlteredMeanwhileIsNotSwapped() throws Exception {
    table.add(50, LIVE);
    for (String change :
        List.of(
            "SELECT idempotency.add_in_flight_index()",
            "SELECT idempotency.add_resource_type('gadget', 'app.things')")) {
      copy();
      step("copy");
      owner(change);

      assertThatThrownBy(() -> owner(MOVE)).hasMessageContaining("has been altered since");
      owner(ABORT);
    }
    owner(MOVE);
    assertThat(table.size()).isEqualTo(50);
  }

  /** Whoever has the table locked keeps the move waiting, and nobody waits behind it for long. */
  @Test
  void aMoveWaitsForALockNoLongerThanItsPatience() throws Exception {
    table.add(50, LIVE);
    step("prepare");
    try (Connection holder = database.app().getConnection();
        Statement statement = holder.createStatement()) {
      holder.setAutoCommit(false);
      statement.execute("DELETE FROM idempotency.idempotency_keys");

      assertThat(nextStep()).containsEntry("step", "mirror").containsEntry("waited", true);
      assertThat(nextStep()).containsEntry("step", "mirror").containsEntry("waited", true);
      holder.rollback();
    }
    assertThat(nextStep()).containsEntry("step", "mirror").containsEntry("waited", false);
    owner(MOVE);
    assertThat(table.size()).isEqualTo(50);
  }

  @Test
  void theApplicationMayNotMoveTheTable() {
    for (String statement : List.of(MOVE, ABORT, "SELECT idempotency.partition_keys(4)")) {
      assertThatThrownBy(
              () -> Jdbi.create(database.app()).useHandle(handle -> handle.execute(statement)))
          .hasMessageContaining("permission denied");
    }
  }

  private Callable<List<Answered>> calling(ThingServer server, AtomicBoolean moved) {
    return () -> {
      List<Answered> answered = new ArrayList<>();
      ThingClient any = ThingClient.to(server.port());
      boolean last = false;
      while (!last) {
        last = moved.get(); // one more call when the table has moved
        ThingClient client = any.withNewKey();
        CreateThingRequest request = Things.named("of " + client.key());
        answered.add(new Answered(client, request, untilAnswered(client, request)));
      }
      return answered;
    };
  }

  private static Reply untilAnswered(ThingClient client, CreateThingRequest request) {
    return await()
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              Reply reply = client.createThing(request);
              assertThat(reply.isOk() || RETRYABLE.contains(reply.status().getCode()))
                  .as("%s", reply)
                  .isTrue();
              return reply;
            },
            Reply::isOk);
  }

  /** A host deletes what old records refer to; the database changes them then. */
  private void deleteThings(AtomicBoolean moved) {
    while (!moved.get()) {
      database.execute(
          "INSERT INTO app.things (id, user_id, name) SELECT gen_random_uuid(), gen_random_uuid(),"
              + " 'doomed'");
      database.execute(
          "UPDATE idempotency.idempotency_keys SET thing_id = (SELECT id FROM app.things WHERE name"
              + " = 'doomed' LIMIT 1) WHERE id IN (SELECT id FROM idempotency.idempotency_keys"
              + " WHERE procedure = 'a.B/C' ORDER BY random() LIMIT 5)");
      database.execute("DELETE FROM app.things WHERE name = 'doomed'");
    }
  }

  /** Returns whether the move has come to its end before it was killed. */
  private boolean moveUntilKilled(Duration life) throws Exception {
    CompletableFuture<Integer> process = new CompletableFuture<>();
    Future<Boolean> moving =
        threads.submit(
            () -> {
              try (Connection connection = database.owner().getConnection();
                  Statement statement = connection.createStatement()) {
                process.complete(
                    connection.unwrap(org.postgresql.PGConnection.class).getBackendPID());
                statement.execute(MOVE);
                return true;
              } catch (SQLException killed) {
                assertThat(killed.getSQLState()).isEqualTo("57P01");
                return false;
              }
            });
    int pid = process.get();
    try {
      await().atMost(life).until(moving::isDone);
    } catch (org.awaitility.core.ConditionTimeoutException stillMoving) {
      database.execute("SELECT pg_terminate_backend(" + pid + ")");
    }
    return moving.get();
  }

  /** Takes the steps up to the first one of the copy. */
  private void copy() {
    step("prepare");
    step("mirror");
    step("copy");
  }

  /** Takes one step by itself, as the procedure does. */
  private void step(String expected) {
    assertThat(nextStep()).containsEntry("step", expected).containsEntry("waited", false);
  }

  private Map<String, Object> nextStep() {
    return Jdbi.create(database.owner())
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT * FROM idempotency.move_step(4, 100, '100 ms')")
                    .mapToMap()
                    .one());
  }

  private int runsOf(CreateThingRequest request) {
    return table.count(
        "SELECT count(*) FROM app.things WHERE name = '%s'".formatted(request.getName()));
  }

  private int differences() {
    return table.count(
        """
        SELECT count(*)
          FROM idempotency.idempotency_keys AS k
          FULL JOIN idempotency.idempotency_keys_twin AS t USING (id, idempotency_key, user_uuid)
         WHERE (k *= t) IS NOT TRUE
        """);
  }

  private int differencesOfRowsNotCopiedYet() {
    return table.count(
        """
        SELECT count(*)
          FROM idempotency.idempotency_keys AS k
         WHERE k.id > (SELECT upto FROM idempotency.idempotency_move)
           AND NOT EXISTS (SELECT FROM idempotency.idempotency_keys_twin AS t WHERE t.id = k.id)
        """);
  }

  /** Counts rows that a partition holds although they are another's. */
  private int strays() {
    return table.count(
        """
        SELECT count(*)
          FROM idempotency.idempotency_keys AS k
         WHERE NOT satisfies_hash_partition(
                 'idempotency.idempotency_keys'::regclass, 4,
                 right(tableoid::regclass::text, 1)::integer, idempotency_key, user_uuid)
        """);
  }

  private List<String> tables() {
    return database.list(
        String.class,
        """
        SELECT relname
          FROM pg_class
         WHERE relnamespace = 'idempotency'::regnamespace
           AND relkind IN ('r', 'p')
           AND relname <> 'flyway_schema_history'
         ORDER BY 1
        """
            .replace(":", "\\:"));
  }

  /** Not by Jdbi, which would open a transaction. */
  private void owner(String statement) throws SQLException {
    List<String> unused = noticesOf(statement);
  }

  private List<String> noticesOf(String statement) throws SQLException {
    try (Connection connection = database.owner().getConnection();
        Statement plain = connection.createStatement()) {
      plain.execute(statement);
      return Stream.iterate(
              plain.getWarnings(), warning -> warning != null, SQLWarning::getNextWarning)
          .map(SQLWarning::getMessage)
          .toList();
    }
  }
}
