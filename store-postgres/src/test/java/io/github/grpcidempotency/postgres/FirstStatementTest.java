package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.PendingClaim;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.Date;
import java.sql.JDBCType;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.postgresql.util.PGobject;

/**
 * What a handler does first, through JDBC, has the same outcome whether its claim was made before
 * it or goes with it.
 */
class FirstStatementTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String CLAIM = "refuse_claim";
  private static final String INSERT = "INSERT INTO app.things (id, name) VALUES (?, ?)";
  private static final String NAMED =
      "INSERT INTO app.things (id, name) VALUES (gen_random_uuid(), ?)";

  /** More often than the driver needs to prepare a statement on the server. */
  private static final int TIMES = 4;

  private static FaultProxy proxy;
  private static HikariDataSource pool;
  private static PostgresIdempotencyStore store;

  private interface Use {
    Object on(Connection connection) throws Exception;
  }

  /** What a handler may do first; the outcome is what it returns, or throws. */
  private enum Travelling {
    UPDATE(c -> named(c).executeUpdate()),
    LARGE_UPDATE(c -> named(c).executeLargeUpdate()),
    EXECUTE(c -> results(named(c))),
    QUERY(
        c ->
            rows(
                c.prepareStatement("SELECT n, 'x' FROM generate_series(1, 3) AS n")
                    .executeQuery())),
    RETURNING_BY_QUERY(c -> rows(named(c, NAMED + " RETURNING name").executeQuery())),
    RETURNING_BY_EXECUTE(c -> results(named(c, NAMED + " RETURNING name"))),
    QUERY_WITHOUT_ROWS(c -> rows(c.prepareStatement("SELECT 1 WHERE false").executeQuery())),
    UPDATE_BY_QUERY(c -> named(c).executeQuery()),
    QUERY_BY_UPDATE(c -> c.prepareStatement("SELECT 1").executeUpdate()),
    ESCAPE(
        c ->
            rows(
                set(c.prepareStatement("SELECT {fn ucase(?)}, {d '2026-01-02'}"), "a")
                    .executeQuery())),
    OPERATOR(
        c -> rows(set(c.prepareStatement("SELECT '{\"a\": 1}'::jsonb ?? ?"), "a").executeQuery())),
    COMMENTS(
        c ->
            rows(
                set(
                        c.prepareStatement(
                            "/* ? ; */ SELECT $$ ? ; $$ || ?, 'it''s; ?' AS \"?;\" -- ? ;"),
                        "a")
                    .executeQuery())),
    SEVERAL_STATEMENTS(
        c ->
            results(
                set(
                    c.prepareStatement(NAMED + "; SELECT 1; SELECT count(*) FROM app.things; "),
                    "a"))),
    NO_KEYS_ASKED(
        c -> set(c.prepareStatement(NAMED, Statement.NO_GENERATED_KEYS), "a").executeUpdate()),
    FORWARD_AND_READ_ONLY(
        c ->
            rows(
                c.prepareStatement(
                        "SELECT 1", ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)
                    .executeQuery())),
    HOLDING(
        c ->
            rows(
                c.prepareStatement(
                        "SELECT 1",
                        ResultSet.TYPE_FORWARD_ONLY,
                        ResultSet.CONCUR_READ_ONLY,
                        ResultSet.CLOSE_CURSORS_AT_COMMIT)
                    .executeQuery())),
    SET_LOCAL(
        c -> {
          boolean first = c.prepareStatement("SET LOCAL app.x = 'a'").execute();
          return first + rows(c.prepareStatement("SELECT current_setting('app.x')").executeQuery());
        }),
    SAVEPOINT_BY_STATEMENT(
        c -> {
          boolean first = c.prepareStatement("SAVEPOINT a").execute();
          named(c).execute();
          c.prepareStatement("ROLLBACK TO SAVEPOINT a").execute();
          return first + rows(c.prepareStatement("SELECT count(*) FROM app.things").executeQuery());
        }),
    COPY(c -> results(c.prepareStatement("COPY app.things FROM STDIN"))),
    USER_IS_SET(
        c ->
            rows(
                c.prepareStatement("SELECT idempotency.current_user_id() IS NOT NULL")
                    .executeQuery())),
    CLEARED_PARAMETERS(
        c -> {
          PreparedStatement insert = named(c);
          insert.clearParameters();
          insert.setString(1, "b");
          return insert.executeUpdate() + rows(names(c));
        }),
    EXECUTED_AGAIN_WITH_ANOTHER_PARAMETER(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT ?::text || ?::text");
          query.setString(1, "a");
          query.setString(2, "b");
          String first = rows(query.executeQuery());
          query.setString(2, "c");
          return first + rows(query.executeQuery()) + query.getFetchSize();
        }),
    EXECUTED_AGAIN_AFTER_ANOTHER(
        c -> {
          PreparedStatement insert = named(c);
          int first = insert.executeUpdate();
          String between = rows(names(c));
          insert.setString(1, "b");
          return first + between + insert.executeUpdate() + rows(names(c));
        }),
    IN_A_LOOP(
        c -> {
          int sum = 0;
          try (PreparedStatement insert = c.prepareStatement(INSERT)) {
            for (int i = 0; i < 3; i++) {
              insert.setObject(1, UUID.randomUUID());
              insert.setString(2, "thing " + i);
              sum += insert.executeUpdate();
            }
          }
          return sum + rows(names(c));
        }),
    MUTATED_AFTER_IT_WAS_SET(
        c -> {
          PreparedStatement query =
              c.prepareStatement(
                  "SELECT ?::bytea::text, ?::date::text, ?::int[]::text, ?::json::text,"
                      + " ?::timestamp::text");
          byte[] bytes = {1};
          Date date = Date.valueOf("2026-01-02");
          int[] array = {1, 2};
          Timestamp timestamp = Timestamp.valueOf("2026-01-02 03:04:05");
          PGobject json = new PGobject();
          json.setType("json");
          json.setValue("{}");
          query.setBytes(1, bytes);
          query.setDate(2, date);
          query.setObject(3, array);
          query.setObject(4, json);
          query.setObject(5, timestamp);
          bytes[0] = 2;
          date.setTime(0);
          array[0] = 7;
          json.setValue("[]");
          timestamp.setTime(0);
          String first = rows(query.executeQuery());
          return first + rows(query.executeQuery());
        }),
    TYPES(
        c -> {
          String fields =
              String.join(
                  " || '|' || ",
                  Arrays.asList(new String[24]).stream()
                      .map(n -> "coalesce(?::text, 'null')")
                      .toList());
          PreparedStatement query = c.prepareStatement("SELECT " + fields);
          query.setObject(1, new UUID(1, 2));
          query.setObject(2, 1);
          query.setObject(3, 2L);
          query.setObject(4, (short) 3);
          query.setObject(5, 1.5);
          query.setObject(6, 2.5f);
          query.setObject(7, new BigDecimal("3.50"));
          query.setObject(8, true);
          query.setObject(9, 'x');
          query.setObject(10, "text");
          query.setObject(11, new byte[] {1, 2});
          query.setObject(12, LocalDate.of(2026, 1, 2));
          query.setObject(13, LocalTime.of(1, 2, 3));
          query.setObject(14, LocalDateTime.of(2026, 1, 2, 3, 4, 5));
          query.setObject(15, OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 0, ZoneOffset.UTC));
          query.setObject(16, new Integer[] {1, 2});
          query.setObject(17, null);
          query.setObject(18, "7", Types.INTEGER);
          query.setObject(19, new BigDecimal("1.234"), Types.NUMERIC, 2);
          query.setObject(20, "2026-01-02", JDBCType.DATE);
          query.setArray(21, c.createArrayOf("uuid", new UUID[] {new UUID(1, 2)}));
          query.setTime(22, Time.valueOf("01:02:03"));
          query.setTimestamp(
              23, Timestamp.from(Instant.EPOCH), Calendar.getInstance(TimeZone.getTimeZone("UTC")));
          query.setNull(24, Types.VARCHAR, "text");
          return rows(query.executeQuery());
        }),
    UNKNOWN_TYPES_WITH_UNBOUNDED_RESULTS(
        c -> {
          PreparedStatement insert =
              c.prepareStatement(
                  "INSERT INTO app.things (id, name) VALUES (gen_random_uuid(), ?::timestamp ||"
                      + " coalesce(?, '')) RETURNING name");
          insert.setTimestamp(1, Timestamp.valueOf("2026-01-02 03:04:05"));
          insert.setNull(2, Types.OTHER);
          return rows(insert.executeQuery());
        }),
    PARAMETER_MISSING(c -> c.prepareStatement(NAMED).executeUpdate()),
    PARAMETER_MISSING_AND_THEN_SET(
        c -> {
          PreparedStatement insert = c.prepareStatement(NAMED);
          return attempt(insert::executeUpdate) + set(insert, "a").executeUpdate() + rows(names(c));
        }),
    PARAMETER_TOO_MUCH(
        c -> {
          c.prepareStatement(NAMED).setString(2, "a");
          return "set";
        }),
    PARAMETER_OF_ANOTHER_TYPE(
        c -> {
          c.prepareStatement(NAMED).setObject(1, "a", Types.INTEGER);
          return "set";
        }),
    FAILING(
        c ->
            attempt(() -> results(c.prepareStatement("SELECT 1/0")))
                + attempt(() -> rows(names(c)))),
    VIOLATING(
        c -> {
          UUID id = new UUID(3, 3);
          PreparedStatement insert =
              c.prepareStatement(
                  "INSERT INTO app.things (id, name) SELECT ?, '' FROM generate_series(1, 2)");
          insert.setObject(1, id);
          return attempt(insert::executeUpdate) + attempt(() -> named(c).executeUpdate());
        }),
    LATE_ISOLATION(
        c -> c.prepareStatement("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE").execute()),
    CLOSED_BEFORE(
        c -> {
          PreparedStatement insert = named(c);
          insert.close();
          return insert.isClosed()
              + attempt(insert::executeUpdate)
              + named(c).executeUpdate()
              + rows(names(c));
        }),
    LOCAL_METHODS(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT 1");
          query.setFetchSize(0);
          query.setMaxRows(0);
          query.setPoolable(false);
          String before =
              "%s %s %s %s %s %s %s %s %s %s"
                  .formatted(
                      c.getAutoCommit(),
                      c.isClosed(),
                      c.isReadOnly(),
                      c.getWarnings(),
                      query.getFetchSize(),
                      query.getMaxRows(),
                      query.getUpdateCount(),
                      query.getResultSet(),
                      query.getMoreResults(),
                      query.getWarnings());
          return before
              + rows(query.executeQuery())
              + query.getMoreResults()
              + query.getUpdateCount()
              + query.isClosed()
              + c.isWrapperFor(PGConnection.class)
              + c.getAutoCommit();
        }),
    CLOSED_BEFORE_ITS_ROWS_WERE_READ(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          ResultSet rows = query.executeQuery();
          boolean first = rows.next();
          query.close();
          return "" + first + rows.isClosed() + named(c).executeUpdate() + rows(names(c));
        }),
    EXECUTED_AGAIN_BEFORE_ITS_ROWS_WERE_READ(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          ResultSet rows = query.executeQuery();
          return "" + rows.next() + rows(query.executeQuery()) + rows.isClosed();
        }),
    ROWS_READ_WHILE_ITS_STATEMENT_IS_SET_UP_ANEW(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          ResultSet rows = query.executeQuery();
          String before = "" + rows.next() + query.getMetaData().getColumnLabel(1);
          query.setFetchSize(2);
          query.setMaxRows(3);
          String rest = rows(rows) + query.getMaxRows() + query.getFetchSize();
          return before + rest + rows(query.executeQuery()) + rows.isClosed();
        }),
    RESULTS_ASKED_FOR_AFTER_ITS_STATEMENT_IS_SET_UP_ANEW(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT 1; SELECT 2");
          boolean first = query.execute();
          query.setMaxRows(3);
          String both = rows(query.getResultSet()) + query.getMoreResults();
          return first + both + rows(query.getResultSet()) + results(query);
        }),
    COUNT_ASKED_FOR_AFTER_ITS_STATEMENT_IS_SET_UP_ANEW(
        c -> {
          PreparedStatement insert = named(c);
          boolean rows = insert.execute();
          insert.setMaxFieldSize(10);
          return ""
              + rows
              + insert.getUpdateCount()
              + insert.getLargeUpdateCount()
              + insert.getMoreResults()
              + insert.getUpdateCount();
        }),
    CLOSED_AFTER_IT_WAS_SET_UP_ANEW(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          ResultSet rows = query.executeQuery();
          query.setMaxRows(2);
          query.close();
          return "" + rows.isClosed() + query.isClosed() + attempt(query::executeQuery);
        }),
    LIMITS_TAKEN_BACK(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          query.setMaxRows(0);
          query.setFetchSize(0);
          query.setQueryTimeout(0);
          return rows(query.executeQuery()) + query.getMaxRows() + query.getQueryTimeout();
        }),
    CANCELLED_WHILE_NOTHING_RUNS(
        c -> {
          PreparedStatement insert = named(c);
          insert.cancel();
          int first = insert.executeUpdate();
          insert.cancel();
          return first + insert.executeUpdate() + rows(names(c));
        }),
    ON_AN_INTERRUPTED_THREAD(
        c -> {
          Thread.currentThread().interrupt();
          int updated = named(c).executeUpdate();
          return updated + rows(names(c)) + Thread.interrupted();
        }),
    NO_KEYS_TO_GET(
        c -> {
          PreparedStatement insert = named(c);
          return insert.executeUpdate() + rows(insert.getGeneratedKeys());
        });

    @SuppressWarnings("ImmutableEnumChecker") // it captures nothing
    private final Use use;

    Travelling(Use use) {
      this.use = use;
    }
  }

  /** What cannot be joined to other statements. */
  private enum Alone {
    STATEMENT(c -> c.createStatement().executeUpdate(NAMED.replace("?", "'a'"))),
    BATCH(
        c -> {
          PreparedStatement batch = named(c);
          batch.addBatch();
          batch.setString(1, "b");
          batch.addBatch();
          return Arrays.toString(batch.executeBatch()) + rows(names(c));
        }),
    CALLABLE(
        c -> {
          CallableStatement call = c.prepareCall("{? = call length(?)}");
          call.registerOutParameter(1, Types.INTEGER);
          call.setString(2, "abc");
          call.execute();
          return call.getInt(1);
        }),
    KEYS(
        c -> {
          PreparedStatement insert = c.prepareStatement(INSERT, Statement.RETURN_GENERATED_KEYS);
          insert.setObject(1, new UUID(5, 5));
          insert.setString(2, "a");
          return insert.executeUpdate()
              + rows(insert.getGeneratedKeys()).replaceAll("[-0-9a-f]{36}", "id");
        }),
    KEYS_BY_COLUMN(
        c -> {
          PreparedStatement insert = set(c.prepareStatement(NAMED, new String[] {"name"}), "a");
          return insert.executeUpdate() + rows(insert.getGeneratedKeys());
        }),
    PORTIONS(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          query.setFetchSize(2);
          return rows(query.executeQuery()) + query.getFetchSize();
        }),
    MAX_ROWS(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT generate_series(1, 5)");
          query.setMaxRows(2);
          return rows(query.executeQuery());
        }),
    CLOSED_ON_COMPLETION(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT 1");
          query.closeOnCompletion();
          ResultSet rows = query.executeQuery();
          rows.close();
          return "" + query.isCloseOnCompletion() + query.isClosed();
        }),
    WITHOUT_ESCAPES(
        c -> {
          PreparedStatement query = set(c.prepareStatement("SELECT ?::text"), "a");
          query.setEscapeProcessing(false);
          return rows(query.executeQuery());
        }),
    SCROLLING(
        c -> {
          ResultSet rows =
              c.prepareStatement(
                      "SELECT generate_series(1, 5)",
                      ResultSet.TYPE_SCROLL_INSENSITIVE,
                      ResultSet.CONCUR_READ_ONLY)
                  .executeQuery();
          return rows.last() + rows.getString(1);
        }),
    STREAM(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT ?::bytea::text");
          query.setBinaryStream(1, new ByteArrayInputStream(new byte[] {1, 2}), 2);
          return rows(query.executeQuery());
        }),
    STREAM_AMONG_OTHERS(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT ?::text, ?::text, ?::text");
          query.setString(1, "a");
          query.setAsciiStream(
              2, new ByteArrayInputStream("b".getBytes(StandardCharsets.UTF_8)), 1);
          query.setString(3, "c");
          return rows(query.executeQuery());
        }),
    LARGE_OBJECT(
        c -> {
          PreparedStatement query = c.prepareStatement("SELECT ? > 0");
          query.setBlob(1, new ByteArrayInputStream(new byte[] {1}));
          return rows(query.executeQuery());
        }),
    METADATA(c -> rows(c.getMetaData().getSchemas()).contains("app")),
    RESULT_METADATA(
        c -> {
          PreparedStatement query = set(c.prepareStatement("SELECT ?::text AS a"), "x");
          return query.getMetaData().getColumnLabel(1) + rows(query.executeQuery());
        }),
    PARAMETER_METADATA(
        c -> {
          PreparedStatement insert = named(c);
          return insert.getParameterMetaData().getParameterCount()
              + insert.executeUpdate()
              + rows(names(c));
        }),
    DRIVER(
        c -> {
          var copy = c.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (SELECT 1) TO STDOUT");
          int rows = 0;
          while (copy.readFromCopy() != null) {
            rows++;
          }
          return rows;
        }),
    SAVEPOINT(
        c -> {
          var savepoint = c.setSavepoint();
          named(c).executeUpdate();
          c.rollback(savepoint);
          return rows(names(c));
        }),
    ISOLATION(c -> c.getTransactionIsolation()),
    READ_ONLY(
        c -> {
          c.setReadOnly(true);
          return "set";
        }),
    EMPTY_EXECUTED(c -> results(c.prepareStatement("  ")));

    @SuppressWarnings("ImmutableEnumChecker") // it captures nothing
    private final Use use;

    Alone(Use use) {
      this.use = use;
    }
  }

  @BeforeAll
  static void start() {
    proxy = FaultProxy.before(database.appUrl());
    pool = pool();
    store = PostgresIdempotencyStore.builder(pool).build();
  }

  @AfterAll
  static void stop() {
    pool.close();
    proxy.close();
  }

  private static HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(proxy.jdbcUrl() + "&prepareThreshold=2");
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(3_000);
    return new HikariDataSource(config);
  }

  @ParameterizedTest
  @EnumSource
  void itGoesWithTheClaim(Travelling travelling) {
    String expected = afterClaim(travelling.use);
    for (int time = 0; time < TIMES; time++) {
      assertThat(withClaim(travelling.use)).isEqualTo(expected);
      assertThat(claims()).allMatch(flush -> flush.contains(CLAIM)).hasSizeLessThanOrEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theClaimIsSentByItselfBefore(Alone alone) {
    String expected = afterClaim(alone.use);
    for (int time = 0; time < 2; time++) {
      assertThat(withClaim(alone.use)).isEqualTo(expected);
      assertThat(claims()).singleElement().asString().endsWith("k.project = $4 LIMIT 1;\n");
    }
  }

  /** How a statement that is under way is stopped. */
  private enum Stop {
    TIMEOUT {
      @Override
      void prepare(Statement slow) throws SQLException {
        slow.setQueryTimeout(1);
      }
    },
    CANCEL {
      @Override
      void meanwhile(Statement slow) throws SQLException {
        await().until(() -> sleepers() == 1);
        slow.cancel();
      }
    };

    void prepare(Statement slow) throws SQLException {}

    void meanwhile(Statement slow) throws SQLException {}
  }

  @ParameterizedTest
  @EnumSource
  void aFirstStatementThatIsStoppedFailsAsAnyOtherAndLeavesTheKeyFree(Stop stop) throws Exception {
    ClaimRequest request = Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL);
    PendingClaim claim = store.claimLater(request);
    PreparedStatement slow = slow(LateClaims.connection(claim));
    stop.prepare(slow);

    assertThat(stopped(slow, stop)).endsWith("57014");

    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(Things.ANSWER)).isEqualTo(Claim.Settled.ROLLED_BACK);
    Claim again = ((ClaimResult.Won) store.claimInTransaction(request)).claim();
    assertThat(again.release()).isEqualTo(Claim.Settled.DONE);
  }

  /** It was prepared behind the claim, and is executed without. */
  @ParameterizedTest
  @EnumSource
  void aSecondStatementIsStoppedToo(Stop stop) throws Exception {
    PendingClaim claim = store.claimLater(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL));
    Connection connection = LateClaims.connection(claim);
    PreparedStatement slow = slow(connection);
    stop.prepare(slow);
    slow.clearParameters();
    named(connection).executeUpdate();

    assertThat(stopped(slow, stop)).endsWith("57014");

    assertThat(claim.isWon()).isTrue();
    claim.transaction().rollback();
  }

  private static PreparedStatement slow(Connection connection) throws SQLException {
    return connection.prepareStatement("SELECT pg_sleep(600)");
  }

  private static String stopped(PreparedStatement slow, Stop stop) {
    CompletableFuture<String> meanwhile =
        CompletableFuture.supplyAsync(
            () ->
                attempt(
                    () -> {
                      stop.meanwhile(slow);
                      return "stopped";
                    }));
    String end = attempt(slow::executeQuery);
    assertThat(meanwhile.join()).isEqualTo("stopped");
    return end;
  }

  private static int sleepers() {
    return new KeyTable(database)
        .count(
            "SELECT count(*) FROM pg_stat_activity"
                + " WHERE wait_event = 'PgSleep' AND datname = current_database()");
  }

  @Test
  void aThreadThatIsInterruptedWhileItsFirstStatementRunsHasItsAnswer() throws Exception {
    PendingClaim claim = store.claimLater(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL));
    Thread handler = Thread.currentThread();
    try (Gate gate = Gate.shut(database.superuser())) {
      CompletableFuture<Void> interrupting =
          CompletableFuture.runAsync(
              () -> {
                gate.awaitWaiting(1);
                handler.interrupt();
                gate.open();
              });
      PreparedStatement wait =
          LateClaims.connection(claim)
              .prepareStatement("SELECT 1 FROM pg_advisory_xact_lock_shared(?)");
      wait.setInt(1, Integer.parseInt(gate.name()));

      assertThat(wait.execute()).isTrue();
      assertThat(Thread.interrupted()).isTrue();
      interrupting.join();
    }

    assertThat(claim.isWon()).isTrue();
    Claim won = claim.confirm().orElseThrow();
    assertThat(won.complete(Things.ANSWER)).isEqualTo(Claim.Settled.DONE);
  }

  private static List<String> claims() {
    return proxy.roundTrips().stream().filter(flush -> flush.contains(CLAIM)).toList();
  }

  private static String afterClaim(Use use) {
    Claim won =
        ((ClaimResult.Won)
                store.claimInTransaction(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL)))
            .claim();
    return used(LateClaims.transaction(won), use);
  }

  private static String withClaim(Use use) {
    proxy.forgetRoundTrips();
    return used(
        LateClaims.transaction(
            store.claimLater(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL))),
        use);
  }

  private static String used(HandlerTransaction transaction, Use use) {
    try {
      return attempt(() -> use.on(transaction.guardedConnection()));
    } finally {
      transaction.rollback();
    }
  }

  private interface Step {
    Object run() throws Exception;
  }

  private static String attempt(Step step) {
    try {
      return String.valueOf(step.run());
    } catch (SQLException failure) {
      return failure.getClass().getSimpleName() + failure.getSQLState();
    } catch (Exception failure) {
      return failure.toString();
    }
  }

  private static PreparedStatement named(Connection connection) throws SQLException {
    return named(connection, NAMED);
  }

  private static PreparedStatement named(Connection connection, String sql) throws SQLException {
    return set(connection.prepareStatement(sql), "a");
  }

  private static PreparedStatement names(Connection connection) throws SQLException {
    return connection.prepareStatement("SELECT name FROM app.things ORDER BY name");
  }

  private static PreparedStatement set(PreparedStatement statement, String value)
      throws SQLException {
    statement.setString(1, value);
    return statement;
  }

  private static String rows(PreparedStatement query) throws SQLException {
    return rows(query.executeQuery());
  }

  private static String rows(ResultSet results) throws SQLException {
    List<String> rows = new ArrayList<>();
    while (results.next()) {
      for (int column = 1; column <= results.getMetaData().getColumnCount(); column++) {
        rows.add(results.getString(column));
      }
    }
    return rows.toString();
  }

  /** Returns everything that a statement returns. */
  private static String results(PreparedStatement statement) throws SQLException {
    StringBuilder results = new StringBuilder();
    boolean rows = statement.execute();
    while (rows || statement.getUpdateCount() >= 0) {
      results.append(
          rows ? rows(statement.getResultSet()) : "[" + statement.getUpdateCount() + "]");
      rows = statement.getMoreResults();
    }
    return results.append(statement.getUpdateCount()).toString();
  }
}
