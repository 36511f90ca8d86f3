package io.github.grpcidempotency.admin;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A service's database with the roles of a real one: the owner of the tables, the application, an
 * operator, and a reader of contents. None of them is a superuser.
 */
final class Shop implements BeforeAllCallback, BeforeEachCallback, AfterAllCallback {
  static final String OWNER = "admin_owner";
  static final String APP = "admin_app";
  static final String OPERATOR = "admin_operator";
  static final String READER = "admin_reader";
  static final Act ACT = new Act("ada", "ticket 4711");
  static final String CREATE_ORDER = "shop.Orders/CreateOrder";
  static final Duration LEASE = Duration.ofMinutes(5);

  private static final PostgresFixture.Builder MIGRATED =
      PostgresFixture.withRoles(OWNER, APP)
          .migrate(IdempotencySchema::migrate)
          .migrate(Shop::runHostMigration);

  private final PostgresFixture fixture = MIGRATED.create();
  private final boolean emptied;

  private Shop(boolean emptied) {
    this.emptied = emptied;
  }

  static Shop open() {
    return new Shop(true);
  }

  /** Opens one whose rows stay from one test to the next. */
  static Shop thatKeepsItsRows() {
    return new Shop(false);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    fixture.beforeAll(context);
    for (String role : List.of(OPERATOR, READER)) {
      createRole(role);
    }
    execute(OWNER, "SELECT idempotency.add_in_flight_index()");
    execute(OWNER, "SELECT idempotency.grant_operator_to('admin_operator')");
    execute(OWNER, "SELECT idempotency.grant_contents_to('admin_reader')");
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (emptied) {
      fixture.beforeEach(context);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    fixture.afterAll(context);
  }

  /** Makes a role that may log in and nothing else, unless another class has made it. */
  void createRole(String role) {
    superuser()
        .useHandle(
            handle ->
                handle.execute(
                    """
                    DO $$
                    BEGIN
                      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%1$s') THEN
                        CREATE ROLE %1$s LOGIN;
                      END IF;
                    END;
                    $$
                    """
                        .formatted(role)));
  }

  DataSource as(String role) {
    return fixture.as(role);
  }

  String url(String role) {
    return fixture.jdbcUrl(role);
  }

  Administration operator() {
    return Administration.on(as(OPERATOR));
  }

  Administration reader() {
    return Administration.on(as(READER));
  }

  /** Looks past row-level security. */
  Jdbi superuser() {
    return Jdbi.create(fixture.superuser());
  }

  /** Runs a statement as a role. */
  void execute(String role, String sql) {
    Jdbi.create(as(role)).useHandle(handle -> handle.execute(sql));
  }

  void runScript(String role, String script) {
    try (Connection connection = as(role).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(script);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** Returns the rows of a query as text, past row-level security. */
  List<String> rows(String sql) {
    return superuser().withHandle(handle -> handle.createQuery(sql).mapTo(String.class).list());
  }

  /** Returns the service's store, with a lease that does not end during a test. */
  PostgresIdempotencyStore store() {
    return store(LEASE);
  }

  PostgresIdempotencyStore store(Duration lease) {
    return PostgresIdempotencyStore.builder(fixture.pool()).lease(lease).build();
  }

  static RecordedProcedure procedure(String name) {
    return RecordedProcedure.of(
        Procedure.named(name)
            .resource(ResourceType.of("order"), "id")
            .attach(Duration.ofMinutes(1))
            .build());
  }

  static ClaimRequest request(Caller caller, String key) {
    return request(caller, key, CREATE_ORDER, Duration.ofHours(24));
  }

  static ClaimRequest request(Caller caller, String key, String procedure, Duration retention) {
    return ClaimRequest.of(
            new IdempotencyKey(caller, key),
            procedure(procedure),
            new Fingerprint(1, ByteString.copyFrom(new byte[32])))
        .retainedFor(retention);
  }

  Claim claim(ClaimRequest request) {
    return ((ClaimResult.Won) store().claim(request)).claim();
  }

  /** Claims a new key of a new user. */
  Claim claim() {
    return claim(request(Caller.of(UUID.randomUUID()), UUID.randomUUID().toString()));
  }

  /** Records an answer for a new key of a new user. */
  Claim record() {
    Claim claim = claim();
    complete(claim, Optional.empty());
    return claim;
  }

  /** Records an answer for a new key of a caller. */
  void claimAndRecord(Caller caller) {
    complete(claim(request(caller, UUID.randomUUID().toString())), Optional.empty());
  }

  static void complete(Claim claim, Optional<ResourceId> order) {
    Claim.Settled settled =
        claim.complete(new RecordedOutcome.Response(ByteString.copyFromUtf8("an answer"), order));
    if (settled != Claim.Settled.DONE) {
      throw new AssertionError("not recorded: " + settled);
    }
  }

  /** Makes an order that records can refer to. */
  ResourceId order() {
    UUID id = UUID.randomUUID();
    superuser().useHandle(handle -> handle.execute("INSERT INTO shop.orders VALUES (?)", id));
    return ResourceId.of(id);
  }

  /** Lets the lease end, as if the owner had died. */
  void endLease(UUID operation) {
    set(operation, "lease_expires = now() - interval '1 ms'");
  }

  void expire(UUID operation) {
    set(
        operation,
        "expires = now() - interval '1 minute', lease_expires = now() - interval '1 minute'");
  }

  void set(UUID operation, String columns) {
    superuser()
        .useHandle(
            handle ->
                handle.execute(
                    "UPDATE idempotency.idempotency_keys SET " + columns + " WHERE id = ?",
                    operation));
  }

  private static void runHostMigration(DataSource owner) throws IOException, SQLException {
    try (InputStream file = Shop.class.getResourceAsStream("shop.sql");
        Connection connection = owner.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
