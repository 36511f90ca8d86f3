package io.github.grpcidempotency.postgres;

import static org.awaitility.Awaitility.await;

import com.google.common.io.Resources;
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
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
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
 * the library as the resource type {@code thing}, and {@code app.outbox}; see {@code things.sql}.
 */
final class TestDatabase implements AfterEachCallback, AfterAllCallback, AutoCloseable {
  private static final String OWNER = "things_owner";
  private static final String APP = "things_app";
  private static final String SUPERUSER = "postgres";
  private static final int PARTITIONS = 4;

  /** Partitions the tables of all tests, to see that they pass there, too. */
  static final boolean ALWAYS_PARTITIONED = Boolean.getBoolean("idempotency.partitioned");

  /** All tests of this JVM share one server, which starts with the first test. */
  private static final PostgresFixture.Builder SHARED = migrated();

  private static final PostgresFixture.Builder PARTITIONED =
      migrated().migrate(owner -> partition(owner, PARTITIONS));

  private static final PostgresFixture.Builder UNMIGRATED =
      PostgresFixture.withRoles(OWNER, APP).checkConnections();

  private final PostgresFixture fixture;
  private final List<HikariDataSource> pools = new ArrayList<>();

  private TestDatabase(PostgresFixture fixture) {
    this.fixture = fixture;
    pools.add(fixture.pool());
  }

  /** Creates a database on the shared server. */
  static TestDatabase create() {
    return ALWAYS_PARTITIONED ? partitioned() : plain();
  }

  /** Creates a database on the shared server whose table of keys is not partitioned. */
  static TestDatabase plain() {
    return new TestDatabase(SHARED.create());
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

  private OffsetDateTime now() {
    return superuser()
        .withHandle(
            handle ->
                handle.createQuery("SELECT clock_timestamp()").mapTo(OffsetDateTime.class).one());
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

  /** Returns the columns, functions and constraints of a schema, in order. */
  List<String> everythingIn(String schema) {
    return superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        """
                        SELECT attrelid::regclass || '.' || attname
                          FROM pg_attribute
                          JOIN pg_class ON pg_class.oid = attrelid
                         WHERE relnamespace = CAST(:schema AS regnamespace)
                         UNION ALL
                        SELECT oid::regprocedure::text
                          FROM pg_proc
                         WHERE pronamespace = CAST(:schema AS regnamespace)
                         UNION ALL
                        SELECT conname || ' ' || pg_get_constraintdef(oid)
                          FROM pg_constraint
                         WHERE connamespace = CAST(:schema AS regnamespace)
                         ORDER BY 1
                        """)
                    .bind("schema", schema)
                    .mapTo(String.class)
                    .list());
  }

  /** Returns the database's name. */
  String name() {
    return superuser()
        .withHandle(
            handle -> handle.createQuery("SELECT current_database()").mapTo(String.class).one());
  }

  /** Returns where another process finds this database, as the application. */
  String appUrl() {
    return fixture.jdbcUrl(APP);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    fixture.afterEach(context);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
  }

  @Override
  public void close() {
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
