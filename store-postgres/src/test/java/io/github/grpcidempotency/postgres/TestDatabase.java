package io.github.grpcidempotency.postgres;

import static org.awaitility.Awaitility.await;

import com.google.common.io.Resources;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.testing.CheckedPool;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A separate migrated database for one test class, with the three roles of a real one: the owner of
 * the tables, the application that row-level security binds, and a superuser who bypasses it.
 *
 * <pre>{@code
 * @RegisterExtension static final TestDatabase database = TestDatabase.create();
 * }</pre>
 *
 * <p>Beside the library's schema it has {@code app.things}, under row-level security and known to
 * the library as the resource type {@code thing}, {@code app.outbox}, and {@code app.notes} without
 * row-level security; see {@code things.sql}.
 */
final class TestDatabase implements AfterEachCallback, AfterAllCallback, AutoCloseable {
  private static final String OWNER = "things_owner";
  private static final String APP = "things_app";
  private static final String SUPERUSER = "postgres";
  private static final int PARTITIONS = 4;

  /** All tests of this JVM share one server, which starts with the first test. */
  private static final PostgresFixture.Builder SHARED = migrated();

  private static final PostgresFixture.Builder PARTITIONED =
      migrated().migrate(owner -> partition(owner, PARTITIONS));

  private static final PostgresFixture.Builder UNMIGRATED =
      PostgresFixture.withRoles(OWNER, APP).checkConnections();

  static {
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
  }

  private final PostgresFixture fixture;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private final Deque<AutoCloseable> closedFirst = new ArrayDeque<>();
  private Optional<HikariDataSource> administration = Optional.empty();

  /** Kept, since it keeps the statements that it has parsed. */
  private Optional<Jdbi> administrator = Optional.empty();

  private boolean awaitsConnections;

  private TestDatabase(PostgresFixture fixture) {
    this.fixture = fixture;
    pools.add(fixture.pool());
  }

  /** Creates a database on the shared server. */
  static TestDatabase create() {
    return new TestDatabase(fixture());
  }

  /** Creates such a database for tests that use it as a user's tests would. */
  static PostgresFixture fixture() {
    return SHARED.create();
  }

  /**
   * Creates a database in which whoever takes an advisory lock fails, but for handlers that wait at
   * a {@link io.github.grpcidempotency.fault.Gate}.
   */
  static TestDatabase withoutAdvisoryLocks() {
    TestDatabase database = create();
    database
        .superuser()
        .useHandle(
            handle ->
                handle
                    .createQuery(
                        """
                        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure)
                          FROM pg_proc AS p
                         WHERE p.proname LIKE 'pg\\_%advisory%'
                           AND p.proname <> 'pg_advisory_xact_lock_shared'
                        """)
                    .mapTo(String.class)
                    .forEach(handle::execute));
    return database;
  }

  /** Creates a database on the shared server whose table of keys has four partitions. */
  static TestDatabase partitioned() {
    return new TestDatabase(PARTITIONED.create());
  }

  /** Creates a database without migrations on the shared server. */
  static TestDatabase unmigrated() {
    return new TestDatabase(UNMIGRATED.create());
  }

  /** Creates a database on a server of the test's own, for those that stop it. */
  static TestDatabase in(EmbeddedPostgres server) {
    return new TestDatabase(
        migrated().server(server.getJdbcUrl(SUPERUSER, SUPERUSER), SUPERUSER, "").create());
  }

  private static PostgresFixture.Builder migrated() {
    return PostgresFixture.withRoles(OWNER, APP)
        .checkConnections()
        .migrate(IdempotencySchema::migrate)
        .migrate(TestDatabase::runHostMigration);
  }

  /** Runs what a host's own migration does, after the library's. */
  static void runHostMigration(DataSource owner) {
    Jdbi.create(owner)
        .useHandle(handle -> handle.createScript(hostMigration()).executeAsSeparateStatements());
  }

  private static void partition(DataSource owner, int partitions) {
    createPartitionFunctions(owner);
    Jdbi.create(owner)
        .useHandle(handle -> handle.execute("SELECT idempotency.partition_keys(?)", partitions));
  }

  /** Runs the script that a host asks for before it partitions the table. */
  static void createPartitionFunctions(DataSource owner) {
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(IdempotencySchema.partitions("idempotency"));
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns the application's pool, as a service has one. */
  HikariDataSource app() {
    return fixture.pool();
  }

  /** Returns another pool of the application: another server of the same service. */
  HikariDataSource newAppPool() {
    return newAppPool(10);
  }

  /** Returns another pool of the application, of so many connections. */
  HikariDataSource newAppPool(int size) {
    HikariDataSource pool = fixture.newPool(size);
    pools.add(pool);
    return pool;
  }

  /** Returns such a pool that also checks whether a user is left set. */
  CheckedPool newPoolThatChecksUsers(int size) {
    return ((CheckedPool) newAppPool(size)).checkUsers();
  }

  /** Lets every test wait until its pools have all their connections back. */
  TestDatabase awaitingConnections() {
    awaitsConnections = true;
    return this;
  }

  /** Closes what all tests of a class share, once they have ended. */
  <T extends AutoCloseable> T closing(T shared) {
    closedFirst.push(shared);
    return shared;
  }

  /** Waits until no pool lacks a connection; one that is not given back is lost for ever. */
  void awaitAllConnectionsBack() {
    await("connections that were not given back")
        .until(
            () ->
                pools.stream()
                    .mapToInt(pool -> pool.getHikariPoolMXBean().getActiveConnections())
                    .sum(),
            active -> active == 0);
  }

  /**
   * Lets time pass by the database's clock, which is the only one that counts, and cannot be put
   * forward.
   */
  void letPass(Duration time) {
    OffsetDateTime then = now().plus(time);
    await().pollInterval(Duration.ofMillis(20)).until(() -> now().isAfter(then));
  }

  /** Empties every table that was empty after the migrations. */
  void reset() {
    fixture.reset();
  }

  /** Returns the database's time. */
  OffsetDateTime now() {
    return one(OffsetDateTime.class, "SELECT clock_timestamp()");
  }

  /** Connects as the owner of all tables, whom forced row-level security binds as well. */
  DataSource owner() {
    return fixture.owner();
  }

  /** Returns where another process finds this database, as the owner of all tables. */
  String ownerUrl() {
    return fixture.jdbcUrl(OWNER);
  }

  /** Connects as a role that a test has made. */
  DataSource as(String role) {
    return fixture.as(role);
  }

  /** Connects past row-level security, to look at what is really there. */
  Jdbi superuser() {
    return Jdbi.create(fixture.superuser());
  }

  /** Connects like {@link #superuser}, from a pool, for statements that change no session. */
  private synchronized Jdbi administration() {
    if (administrator.isEmpty()) {
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(fixture.jdbcUrl(SUPERUSER) + "&prepareThreshold=0");
      config.setMinimumIdle(0);
      HikariDataSource pool = new HikariDataSource(config);
      administration = Optional.of(pool);
      administrator = Optional.of(Jdbi.create(pool));
    }
    return administrator.get();
  }

  /** Replaces the pooled connections, after the server was restarted. */
  synchronized void reconnect() {
    administration.ifPresent(pool -> pool.getHikariPoolMXBean().softEvictConnections());
  }

  /** Executes a statement past row-level security, and returns how many rows it has changed. */
  int execute(String statement, Object... arguments) {
    return administration().withHandle(handle -> handle.execute(statement, arguments));
  }

  /** Returns the only value that a query finds past row-level security. */
  <T> T one(Class<T> type, String query, Object... arguments) {
    return administration().withHandle(handle -> handle.select(query, arguments).mapTo(type).one());
  }

  /** Returns all values that a query finds past row-level security. */
  <T> List<T> list(Class<T> type, String query, Object... arguments) {
    return administration()
        .withHandle(handle -> handle.select(query, arguments).mapTo(type).list());
  }

  /** Returns how many sessions wait for a lock. */
  int blocked() {
    return one(
        Integer.class,
        "SELECT count(*) FROM pg_stat_activity"
            + " WHERE wait_event_type = 'Lock' AND datname = current_database()");
  }

  /** Returns the columns, functions and constraints of a schema, in order. */
  List<String> everythingIn(String schema) {
    return list(
        String.class,
        """
        WITH schema AS (SELECT CAST(? AS regnamespace) AS id)
        SELECT attrelid::regclass || '.' || attname
          FROM pg_attribute
          JOIN pg_class ON pg_class.oid = attrelid
          JOIN schema ON relnamespace = schema.id
         UNION ALL
        SELECT oid::regprocedure::text
          FROM pg_proc
          JOIN schema ON pronamespace = schema.id
         UNION ALL
        SELECT conname || ' ' || pg_get_constraintdef(oid)
          FROM pg_constraint
          JOIN schema ON connamespace = schema.id
         ORDER BY 1
        """,
        schema);
  }

  /** Returns the database's name. */
  String name() {
    return one(String.class, "SELECT current_database()");
  }

  /** Returns where another process finds this database, as the application. */
  String appUrl() {
    return fixture.jdbcUrl(APP);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    HeldConnections.check();
    if (awaitsConnections) {
      awaitAllConnectionsBack();
    }
    fixture.afterEach(context);
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    while (!closedFirst.isEmpty()) {
      closedFirst.pop().close();
    }
    close();
  }

  @Override
  public synchronized void close() {
    administration.ifPresent(HikariDataSource::close);
    administration = Optional.empty();
    administrator = Optional.empty();
    fixture.close();
  }

  private static String hostMigration() {
    try {
      return Resources.toString(
          Resources.getResource(TestDatabase.class, "things.sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
