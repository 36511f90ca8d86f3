package io.github.grpcidempotency.admin.console;

import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import java.util.function.IntConsumer;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** A database with records of calls, and an operator's role. */
final class ConsoleShop {
  static final PostgresFixture.Builder DATABASES =
      PostgresFixture.withRoles("shop_owner", "shop_app").migrate(IdempotencySchema::migrate);

  static final String USER = "018f3a1e-0000-7000-8000-00000000cafe";
  private static final String OPERATOR = "shop_operator";

  private final PostgresFixture database;

  ConsoleShop(PostgresFixture database) {
    this.database = database;
  }

  /** Opens the administration, as a role that may do what operators may. */
  Administration administration() {
    return Administration.on(operator());
  }

  /** Starts a console that shows keys, on any port. */
  static Console open(Administration administration) throws IOException {
    return Console.start(administration, "ann", 0, true, Optional.empty());
  }

  private DataSource operator() {
    if (count("SELECT count(*) FROM pg_roles WHERE rolname = ?", OPERATOR) == 0) {
      execute("CREATE ROLE shop_operator LOGIN"); // another class may have made it
    }
    execute("SELECT idempotency.grant_operator_to('shop_operator')");
    execute("SELECT idempotency.add_in_flight_index()");
    return database.as(OPERATOR);
  }

  /** Begins a record: completed, of nobody's tenant. */
  Row row(String procedure) {
    return new Row(procedure);
  }

  boolean exists(UUID id) {
    return count("SELECT count(*) FROM idempotency.idempotency_keys WHERE id = ?", id) == 1;
  }

  /** Counts the acts upon an operation that were done. */
  int done(UUID id) {
    return count(
        "SELECT count(*) FROM idempotency.idempotency_audit"
            + " WHERE result = 'done' AND operation_id = ?",
        id);
  }

  /** Runs a test while a transaction holds the lock of a key, of the user outside all tenants. */
  void whileLocked(String key, IntConsumer test) {
    superuser()
        .useTransaction(
            handle -> {
              handle.execute(
                  "SELECT pg_advisory_xact_lock(idempotency.lock_of(?, CAST(? AS uuid), '', ''))",
                  key,
                  USER);
              test.accept(handle.createQuery("SELECT pg_backend_pid()").mapTo(Integer.class).one());
            });
  }

  private int count(String sql, Object value) {
    return superuser()
        .withHandle(handle -> handle.createQuery(sql).bind(0, value).mapTo(Integer.class).one());
  }

  void execute(String sql) {
    superuser().useHandle(handle -> handle.execute(sql));
  }

  private Jdbi superuser() {
    return Jdbi.create(database.superuser());
  }

  /** A record that is about to be inserted. */
  final class Row {
    private final String procedure;
    private String key = UUID.randomUUID().toString();
    private String tenant = "";
    private String project = "";
    private String server = "orders-7c9f:4711";
    private String age = "4 minutes";
    private @Nullable String lease = "-3 minutes";
    private boolean completed = true;
    private boolean failed;

    private Row(String procedure) {
      this.procedure = procedure;
    }

    Row key(String sent) {
      this.key = sent;
      return this;
    }

    Row in(String itsTenant, String itsProject) {
      this.tenant = itsTenant;
      this.project = itsProject;
      return this;
    }

    Row server(String name) {
      this.server = name;
      return this;
    }

    Row age(String interval) {
      this.age = interval;
      return this;
    }

    Row failed() {
      this.failed = true;
      return this;
    }

    Row running() {
      return reserved("25 seconds");
    }

    Row stuck() {
      return reserved("-3 minutes");
    }

    private Row reserved(String leaseLeft) {
      this.completed = false;
      this.lease = leaseLeft;
      return this;
    }

    UUID insert() {
      UUID id = UUID.randomUUID();
      superuser()
          .useHandle(
              handle ->
                  handle
                      .createUpdate(
                          """
                          INSERT INTO idempotency.idempotency_keys
                            (id, idempotency_key, tenant, project, user_uuid, procedure, request_hash, hash_version,
                             response_bytes, status_bytes, lease_expires, created, completed, expires,
                             server, trace)
                          VALUES
                            (:id, :key, :tenant, :project, CAST(:user AS uuid), :procedure, '\\x00', 1, :response, :status,
                             now() + CAST(:lease AS interval), now() - CAST(:age AS interval),
                             CASE WHEN :completed THEN now() - interval '1 minute' END,
                             now() - CAST(:age AS interval) + interval '1 day', :server,
                             '\\xabcdef')
                          """)
                      .bind("id", id)
                      .bind("key", key)
                      .bind("tenant", tenant)
                      .bind("project", project)
                      .bind("user", USER)
                      .bind("procedure", procedure)
                      .bind("response", completed && !failed ? new byte[321] : null)
                      .bind("status", completed && failed ? new byte[45] : null)
                      .bind("lease", lease)
                      .bind("age", age)
                      .bind("completed", completed)
                      .bind("server", server)
                      .execute());
      return id;
    }
  }
}
