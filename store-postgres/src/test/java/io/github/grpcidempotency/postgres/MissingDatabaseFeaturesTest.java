package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.BaseConnection;

/** An engine that speaks PostgreSQL, and has neither notifications nor advisory locks. */
class MissingDatabaseFeaturesTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.withoutAdvisoryLocks().awaitingConnections();

  private static final Duration SHORT_LEASE = Duration.ofMillis(400);
  private static final Duration WAIT = Duration.ofMinutes(1);

  private final KeyTable table = new KeyTable(database);

  @BeforeAll
  static void forbid() {
    database.execute("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
  }

  @Test
  void withoutNotificationsTheStartFailsAndNamesTheSetting() {
    assertThatThrownBy(
            () ->
                Things.verify(
                    PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("has no LISTEN and pg_notify for the pool's role")
        .hasMessageContaining("permission denied for function pg_notify")
        .hasMessageContaining("listen(false)");
  }

  @Test
  void withoutAdvisoryLocksTransactionalProceduresAreRefusedAndTheSettingIsNamed() {
    assertThatThrownBy(
            () ->
                Things.verify(
                    PostgresIdempotencyStore.builder(database.app()).listen(false).build(),
                    Things.TRANSACTIONAL))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("the database has no advisory locks for the role")
        .hasMessageContaining("permission denied for function pg_try_advisory_xact_lock")
        .hasMessageContaining("advisoryLocks(false)");
  }

  @Test
  void withoutAdvisoryLocksNoClaimIsSentWithAFirstStatement() {
    assertThatThrownBy(() -> Things.verify(polling(), Things.WITH_FIRST_STATEMENT))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining(
            "advisoryLocks(false) cannot send a claim with a handler's first statement")
        .hasMessageContaining("BEFORE_HANDLER");
  }

  @Test
  void aTransactionalCallTakesOneRoundTripMore() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      PostgresIdempotencyStore store =
          PostgresIdempotencyStore.builder(proxied).advisoryLocks(false).build();
      callInTransaction(store);
      proxy.forgetRoundTrips();

      callInTransaction(store);

      assertThat(proxy.roundTrips()).hasSize(3);
    }
  }

  private static void callInTransaction(PostgresIdempotencyStore store) {
    ClaimResult result =
        store.claimInTransaction(Things.claimOf(UUID.randomUUID(), Things.TRANSACTIONAL));
    assertThat(((ClaimResult.Won) result).claim().complete(Things.ANSWER))
        .isEqualTo(Claim.Settled.DONE);
  }

  /** As with an advisory lock, a pool's connections are not taken by those who wait. */
  @Test
  void duplicatesOfATransactionalCallOnAnotherServerWaitForIt() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = transactional(database.app(), ThingHandlers.transactional()).start();
        ThingServer right =
            transactional(database.newAppPool(), ThingHandlers.transactional()).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      CompletableFuture<Reply> duplicate = toRight.startThing(request);
      await().until(() -> right.events().contains("Attached"));
      gate.open();

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(duplicate.join().isReplay()).as(duplicate.join().toString()).isTrue();
      assertThat(left.runs() + right.runs()).isEqualTo(1);
      assertThat(table.count("SELECT count(*) FROM idempotency.idempotency_waits")).isZero();
    }
  }

  /**
   * The lease is renewed beside the transaction; one that keeps its snapshot has locked the row.
   */
  @ParameterizedTest
  @ValueSource(strings = {"read committed", "serializable"})
  void aTransactionalCallOutlivesItsLease(String isolation) {
    try (Gate gate = Gate.shut(database.superuser());
        HikariDataSource pool =
            PostgresThingServer.pool(
                database.appUrl()
                    + "&options=-c%20default_transaction_isolation="
                    + isolation.replace(" ", "%5C%20"));
        ThingServer left =
            transactional(pool, ThingHandlers.transactional()).lease(SHORT_LEASE).start();
        ThingServer right =
            transactional(database.newAppPool(), ThingHandlers.transactional())
                .lease(SHORT_LEASE)
                .createThing(thing -> thing.execution(Execution.TRANSACTIONAL))
                .start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      database.letPass(SHORT_LEASE.multipliedBy(3));

      assertThat(toRight.createThing(request).reason()).isEqualTo(Things.IN_PROGRESS);
      gate.open();

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(toRight.createThing(request).bytes()).isEqualTo(first.join().bytes());
      assertThat(table.thingsOf(toLeft.user())).containsExactly(first.join().thingId());
      assertThat(table.joined(toLeft.user())).isTrue();
      assertThat(right.runs()).isZero();
    }
  }

  @Test
  void aTransactionalCallThatWasTakenOverCommitsNothing() {
    AtomicInteger runs = new AtomicInteger();
    ThingHandler overtaken =
        (request, answer) -> {
          if (runs.incrementAndGet() == 1) {
            takeOver(Things.caller());
          }
          ThingHandlers.transactional().create(request, answer);
        };
    try (ThingServer server = transactional(database.app(), overtaken).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply zombie = client.createThing(Things.named("vase"));

      assertThat(zombie.isOk()).as(zombie.toString()).isFalse();
      assertThat(table.thingsOf(client.user())).isEmpty();
      assertThat(server.events()).contains("LeaseLost");
    }
  }

  /** What it has committed, or has written for another user, must not get a record of its own. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "COMMIT",
        "ROLLBACK AND CHAIN",
        "COMMIT; BEGIN; SELECT set_config('app.current_user_id', :user, true)",
        "SELECT set_config('app.current_user_id', gen_random_uuid()::text, true)"
      })
  void aHandlerThatEndsItsTransactionOrChangesItsUserFailsTheCall(String statement) {
    ThingHandler ending =
        (request, answer) -> {
          String user = "'" + Things.caller() + "'";
          executeBehindTheGuardsBack(statement.replace(":user", user));
          ThingHandler.answer(answer, ThingHandler.newThing(request));
        };
    try (ThingServer server = transactional(database.app(), ending).withoutResource().start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply reply = client.createThing(Things.named("vase"));

      assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
      assertThat(reply.description()).contains("the handler has ended its transaction");
    }
  }

  private static void executeBehindTheGuardsBack(String sql) {
    try (Statement statement =
        ClaimTransaction.connection().unwrap(BaseConnection.class).createStatement()) {
      boolean unused = statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** The answer is recorded in the handler's transaction, so one commit decides both. */
  @Test
  void aJoinedCallNeedsNeitherLocksNorNotifications() {
    try (ThingServer server =
            serving(database.app()).handler(ThingHandlers.completing(database.app())).start();
        ThingClient client = ThingClient.to(server.port())) {
      CreateThingRequest request = Things.named("vase");
      Reply first = client.createThing(request);
      Reply second = client.createThing(request);

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(second.isReplay()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
    }
  }

  private static PostgresIdempotencyStore polling() {
    return PostgresIdempotencyStore.builder(database.app())
        .listen(false)
        .advisoryLocks(false)
        .build();
  }

  private static void takeOver(UUID user) {
    database.execute(
        "UPDATE idempotency.idempotency_keys SET attempt = attempt + 1 WHERE user_id =" + " ?",
        user);
  }

  private static PostgresThingServer.Builder transactional(DataSource pool, ThingHandler handler) {
    return serving(pool)
        .createThing(thing -> thing.attach(WAIT))
        .transactional(handler)
        .withoutAdvisoryLocks();
  }

  private static PostgresThingServer.Builder serving(DataSource pool) {
    return PostgresThingServer.on(pool)
        .withoutListening()
        .lease(Duration.ofMinutes(5))
        .createThing(thing -> thing.execution(Execution.RESERVED).sameDatabase().attach(WAIT));
  }
}
