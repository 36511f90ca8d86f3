package io.github.grpcidempotency.postgres;

import static org.awaitility.Awaitility.await;

import com.google.common.base.Suppliers;
import com.google.common.io.Resources;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A migrated database of its own for one test class, with the three roles of a real one: the owner
 * of the tables, the application that row-level security binds, and a superuser to look behind it.
 *
 * <pre>{@code
 * @RegisterExtension static final TestDatabase database = TestDatabase.create();
 * }</pre>
 *
 * <p>Beside the library's schema stand {@code app.things}, under row-level security and known to
 * the library as the resource type {@code thing}, and {@code app.outbox}; see {@code things.sql}.
 */
final class TestDatabase implements AfterAllCallback, AutoCloseable {
  private static final String OWNER = "things_owner";
  private static final String APP = "things_app";
  private static final String SUPERUSER = "postgres";

  /** Has the template in it, of which every database there is a copy. */
  private static final Supplier<EmbeddedPostgres> SHARED_SERVER =
      Suppliers.memoize(TestDatabase::startServer);

  private static final String TEMPLATE = "things_template";
  private static final AtomicInteger databases = new AtomicInteger();

  private static final String CREATE_ROLES =
      """
      DO $$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'things_app') THEN
          CREATE ROLE things_owner LOGIN NOSUPERUSER NOBYPASSRLS;
          CREATE ROLE things_app LOGIN NOSUPERUSER NOBYPASSRLS;
        END IF;
      END
      $$
      """;

  private final EmbeddedPostgres server;
  private final String name;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private final HikariDataSource app;

  private TestDatabase(EmbeddedPostgres server, String name) {
    this.server = server;
    this.name = name;
    this.app = newAppPool();
  }

  /**
   * Creates a database on the server that all tests of this JVM share; it starts with the first.
   */
  static TestDatabase create() {
    EmbeddedPostgres server = SHARED_SERVER.get();
    String name = "test_" + databases.incrementAndGet();
    Jdbi.create(server.getPostgresDatabase())
        .useHandle(
            handle ->
                handle.execute(
                    "CREATE DATABASE %s OWNER %s TEMPLATE %s".formatted(name, OWNER, TEMPLATE)));
    return new TestDatabase(server, name);
  }

  /** Creates a database on the shared server that nobody has migrated. */
  static TestDatabase unmigrated() {
    EmbeddedPostgres server = SHARED_SERVER.get();
    String name = "test_" + databases.incrementAndGet();
    Jdbi.create(server.getPostgresDatabase())
        .useHandle(handle -> handle.execute("CREATE DATABASE %s OWNER %s".formatted(name, OWNER)));
    return new TestDatabase(server, name);
  }

  /** Creates a database on a server of the test's own, for those that stop it. */
  static TestDatabase in(EmbeddedPostgres server) {
    String name = "test_" + databases.incrementAndGet();
    createMigrated(server, name);
    return new TestDatabase(server, name);
  }

  private static void createMigrated(EmbeddedPostgres server, String name) {
    Jdbi.create(server.getPostgresDatabase())
        .useHandle(
            handle -> {
              handle.execute(CREATE_ROLES);
              handle.execute("CREATE DATABASE %s OWNER %s".formatted(name, OWNER));
            });
    DataSource owner = server.getDatabase(OWNER, name);
    IdempotencySchema.migrate(owner);
    runHostMigration(owner);
  }

  /** Runs what a host's own migration does, after the library's. */
  static void runHostMigration(DataSource owner) {
    Jdbi.create(owner)
        .useHandle(handle -> handle.createScript(hostMigration()).executeAsSeparateStatements());
  }

  /** Returns the application's pool, as a service has one. */
  HikariDataSource app() {
    return app;
  }

  /** Returns another pool of the application: another server of the same service. */
  HikariDataSource newAppPool() {
    return newAppPool(10);
  }

  /** Returns another pool of the application, of so many connections. */
  HikariDataSource newAppPool(int size) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(server.getDatabase(APP, name));
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
    HikariDataSource pool = new HikariDataSource(config);
    pools.add(pool);
    return pool;
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

  /** Connects as the owner of all tables, whom forced row-level security binds as well. */
  DataSource owner() {
    return server.getDatabase(OWNER, name);
  }

  /** Returns where another process finds this database, as the owner of all tables. */
  String ownerUrl() {
    return server.getJdbcUrl(OWNER, name);
  }

  /** Connects as a role that a test has made. */
  DataSource as(String role) {
    return server.getDatabase(role, name);
  }

  /** Connects past row-level security, to look at what is really there. */
  Jdbi superuser() {
    return Jdbi.create(server.getDatabase(SUPERUSER, name));
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

  /** Returns where another process finds this database, as the application. */
  String appUrl() {
    return server.getJdbcUrl(APP, name);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    close();
  }

  @Override
  public void close() {
    pools.forEach(HikariDataSource::close);
  }

  private static String hostMigration() {
    try {
      return Resources.toString(
          Resources.getResource(TestDatabase.class, "things.sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static EmbeddedPostgres startServer() {
    try {
      EmbeddedPostgres server = EmbeddedPostgres.builder().start();
      createMigrated(server, TEMPLATE);
      return server;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
