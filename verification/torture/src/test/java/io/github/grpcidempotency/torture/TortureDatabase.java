package io.github.grpcidempotency.torture;

import com.google.common.io.Resources;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.torture.History.Batches;
import io.github.grpcidempotency.torture.History.Change;
import io.github.grpcidempotency.torture.History.CommittedEffect;
import io.github.grpcidempotency.torture.History.Finding;
import io.github.grpcidempotency.torture.History.StoredAnswer;
import io.github.grpcidempotency.torture.Operation.Scope;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.postgresql.ds.PGSimpleDataSource;

/** A migrated database with the tables of the torture, for one run. */
final class TortureDatabase {
  private static final AtomicInteger databases = new AtomicInteger();
  private static final String CREATE_ROLES =
      """
      DO $$
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'torture_app') THEN
          CREATE ROLE torture_owner LOGIN NOSUPERUSER NOBYPASSRLS;
          CREATE ROLE torture_app LOGIN NOSUPERUSER NOBYPASSRLS;
          CREATE ROLE torture_past LOGIN NOSUPERUSER NOBYPASSRLS;
        END IF;
      END
      $$
      """;

  /**
   * The answers at the end of a run, without those that were planted, and those that a server left
   * when it died during its start and that no call asked for.
   */
  private static final String ANSWERS =
      """
      SELECT torture.key_of(tenant, idempotency_key) AS key, user_uuid AS user_id, response_bytes
      FROM idempotency.idempotency_keys
      WHERE response_bytes IS NOT NULL AND procedure NOT IN ('of/Old', 'idempotency/probe')
      """;

  private static final String PLANT =
      """
      INSERT INTO idempotency.idempotency_keys
        (id, idempotency_key, user_uuid, tenant, procedure, request_hash, hash_version,
         response_bytes, completed, expires)
      VALUES (gen_random_uuid(), :key, :user, :tenant, 'of/Old', '\\x00', 1, '\\x00',
              now() - interval '2 hours', now() - interval '1 hour')
      ON CONFLICT DO NOTHING
      """;

  private static final String LEFT_OPEN =
      """
      SELECT application_name AS server, xact_start AS began,
             format('process %s is %s after %s', pid, state, left(query, 80)) AS what
      FROM pg_stat_activity
      WHERE usename = 'torture_app'
        AND datname = current_database()
        AND state LIKE 'idle in transaction%'
        AND state_change < clock_timestamp() - :longest * interval '1 millisecond'
      """;

  private final FaultyPostgres postgres;
  private final Optional<TortureDatabase> elsewhere;
  private final String name = "torture_" + databases.incrementAndGet();
  private final Jdbi superuser;

  /** Makes one with the schema as it is. */
  TortureDatabase(FaultyPostgres postgres) {
    this(postgres, Optional.empty(), IdempotencySchema::migrate);
  }

  /**
   * Makes one beside another, to which handlers write that do not write to their server's database.
   *
   * @param elsewhere is never broken
   */
  TortureDatabase(FaultyPostgres postgres, TortureDatabase elsewhere) {
    this(postgres, Optional.of(elsewhere), IdempotencySchema::migrate);
    run(resource("timelines.sql"));
  }

  /**
   * Makes one with another version of the schema.
   *
   * @param migration migrates as the owner
   */
  TortureDatabase(FaultyPostgres postgres, Consumer<DataSource> migration) {
    this(postgres, Optional.empty(), migration);
  }

  private TortureDatabase(
      FaultyPostgres postgres,
      Optional<TortureDatabase> elsewhere,
      Consumer<DataSource> migration) {
    this.postgres = postgres;
    this.elsewhere = elsewhere;
    this.superuser = postgres.superuser(name);
    postgres
        .superuser("postgres")
        .useHandle(
            handle -> {
              handle.execute(CREATE_ROLES);
              handle.execute("CREATE DATABASE %s OWNER torture_owner".formatted(name));
            });
    migration.accept(owner());
    run(resource("torture.sql"));
  }

  /**
   * Brings the schema up to date while servers work, as {@code docs/operations/maintenance.md}
   * says: it does not wait for locks for long, and is tried again.
   *
   * @param migration migrates as the owner
   * @return how many attempts it took
   */
  int migrateUnderLoad(Consumer<DataSource> migration) {
    PGSimpleDataSource owner = owner();
    owner.setOptions("-c lock_timeout=2s -c default_transaction_read_only=off");
    AtomicInteger attempts = new AtomicInteger();
    Awaitility.await("the migration")
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofMillis(500))
        .pollInSameThread()
        .ignoreExceptions() // a lock is not to be had, or the database is down
        .until(
            () -> {
              attempts.incrementAndGet();
              migration.accept(owner);
              return true;
            });
    Awaitility.await("the grants")
        .pollInSameThread()
        .ignoreExceptions()
        .until(
            () -> {
              Jdbi.create(owner)
                  .useHandle(
                      handle -> handle.execute("SELECT idempotency.grant_to('torture_app')"));
              return true;
            });
    return attempts.get();
  }

  private PGSimpleDataSource owner() {
    PGSimpleDataSource owner = new PGSimpleDataSource();
    owner.setUrl(postgres.jdbcUrl("torture_owner", name));
    return owner;
  }

  FaultyPostgres postgres() {
    return postgres;
  }

  /** Returns the URL for servers, past all faults. */
  String appUrl() {
    return postgres.jdbcUrl("torture_app", name);
  }

  /** Returns how a server comes here. */
  Road road(int server) {
    return postgres.road(server, "torture_app", name);
  }

  /** Returns the URL for what handlers write past their server's pool. */
  String pastUrl() {
    TortureDatabase past = elsewhere.orElse(this);
    return past.postgres.jdbcUrl("torture_past", past.name);
  }

  /**
   * Returns the transactions of servers that are idle for too long.
   *
   * @param longest how long they may be
   */
  List<Finding> leftOpen(Duration longest) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(LEFT_OPEN)
                .bind("longest", longest.toMillis())
                .map(
                    (row, context) ->
                        new Finding(
                            Rule.TRANSACTIONS_END,
                            row.getString("server"),
                            row.getString("what"),
                            row.getTimestamp("began").getTime()))
                .list());
  }

  /** Returns what servers have found. */
  List<Finding> findings() {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT rule, server, what, at FROM torture.findings")
                .map(
                    (row, context) ->
                        new Finding(
                            Rule.valueOf(row.getString("rule")),
                            row.getString("server"),
                            row.getString("what"),
                            row.getTimestamp("at").getTime()))
                .list());
  }

  /** Runs SQL that bypasses all rules. */
  void run(String sql) {
    try (Handle handle = superuser.open();
        Statement statement = handle.getConnection().createStatement()) {
      statement.execute(sql);
    } catch (SQLException wrong) {
      throw new IllegalStateException(wrong);
    }
  }

  List<CommittedEffect> effects() {
    List<CommittedEffect> all = new ArrayList<>(ownEffects());
    elsewhere.map(TortureDatabase::ownEffects).ifPresent(all::addAll);
    return all;
  }

  private List<CommittedEffect> ownEffects() {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(
                    "SELECT key, user_id, server, form, payload, value, guarded, way, began, at"
                        + " FROM torture.effects")
                .map(
                    (row, context) ->
                        new CommittedEffect(
                            new Scope(row.getObject("user_id", UUID.class), row.getString("key")),
                            row.getString("server"),
                            Form.valueOf(row.getString("form")),
                            row.getString("payload"),
                            row.getObject("value", UUID.class),
                            row.getBoolean("guarded"),
                            Way.valueOf(row.getString("way")),
                            row.getTimestamp("began").getTime(),
                            row.getTimestamp("at").getTime()))
                .list());
  }

  List<Change> changes() {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT kind, key, user_id, at FROM torture.changes")
                .map(
                    (row, context) ->
                        new Change(
                            row.getString("kind"),
                            new Scope(row.getObject("user_id", UUID.class), row.getString("key")),
                            row.getTimestamp("at").getTime()))
                .list());
  }

  List<StoredAnswer> answers() {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(ANSWERS)
                .map(
                    (row, context) ->
                        new StoredAnswer(
                            new Scope(row.getObject("user_id", UUID.class), row.getString("key")),
                            bytes(row.getBytes("response_bytes"))))
                .list());
  }

  /** Returns how often an answer could not be recorded for a permanent reason. */
  long refusedRecordings() {
    return counted("torture.refused_recordings");
  }

  /** Returns how often a handler ran in vain. */
  long preempted() {
    return elsewhere.orElse(this).counted("torture.preempted");
  }

  /** Returns how many batches servers have sent, and with how many calls. */
  Batches batches() {
    return elsewhere
        .orElse(this)
        .superuser
        .withHandle(
            handle ->
                handle
                    .createQuery(
                        "SELECT coalesce(sum(batches), 0) AS batches,"
                            + " coalesce(sum(calls), 0) AS calls FROM torture.batches")
                    .map(
                        (row, context) -> new Batches(row.getLong("batches"), row.getLong("calls")))
                    .one());
  }

  private long counted(String sequence) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM <counter>")
                .define("counter", sequence)
                .mapTo(Long.class)
                .one());
  }

  /** Leaves an expired record under a key, as if it was not swept yet. */
  void plantExpired(Scope scope) {
    superuser.useHandle(
        handle ->
            handle
                .createUpdate(PLANT)
                .bind("key", scope.sent())
                .bind("user", scope.user())
                .bind("tenant", scope.tenant())
                .execute());
  }

  /** Returns how often a reservation was taken over so far. */
  long takeovers() {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT count(*) FROM torture.changes WHERE kind = 'TAKEOVER'")
                .mapTo(Long.class)
                .one());
  }

  private static ByteString bytes(byte[] value) {
    return UnsafeByteOperations.unsafeWrap(value);
  }

  private static String resource(String file) {
    try {
      return Resources.toString(
          Resources.getResource(TortureDatabase.class, file), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
