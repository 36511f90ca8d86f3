package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine that speaks PostgreSQL, and has neither notifications nor advisory locks. */
class LackingEngineTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);

  @BeforeAll
  static void forbid() {
    database
        .superuser()
        .useHandle(
            handle -> {
              handle.execute("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
              handle.execute(
                  "REVOKE EXECUTE ON FUNCTION pg_try_advisory_xact_lock(bigint) FROM PUBLIC");
            });
  }

  @AfterEach
  void everyConnectionIsGivenBack() {
    database.awaitAllConnectionsBack();
  }

  @Test
  void withoutNotificationsTheStartFailsAndNamesTheSetting() {
    assertThatThrownBy(
            () ->
                Things.verify(
                    PostgresIdempotencyStore.builder(database.app()).build(), Things.CREATE_THING))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("has no LISTEN and pg_notify for its role")
        .hasMessageContaining("permission denied for function pg_notify")
        .hasMessageContaining("listen(false)");
  }

  @Test
  void withoutAdvisoryLocksTransactionalProceduresAreRefusedAndTheAlternativeIsNamed() {
    assertThatThrownBy(
            () ->
                Things.verify(
                    polling(),
                    Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
                        .execution(Execution.TRANSACTIONAL)
                        .build()))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("the database has no advisory locks for the role")
        .hasMessageContaining("permission denied for function pg_try_advisory_xact_lock")
        .hasMessageContaining("RESERVED_SAME_DATABASE");
  }

  /** The answer is recorded in the handler's transaction, so one commit decides both. */
  @Test
  void aJoinedCallNeedsNeither() {
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

  @Test
  void duplicatesOnAnotherServerAreAnsweredByPolling() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = serving(database.app()).start();
        ThingServer right = serving(database.newAppPool()).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      CompletableFuture<Reply> duplicate = toRight.startThing(request);
      await().until(() -> right.events().contains("attached"));
      gate.open();

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(duplicate.join().isReplay()).as(duplicate.join().toString()).isTrue();
      assertThat(left.runs() + right.runs()).isEqualTo(1);
      assertThat(table.count("SELECT count(*) FROM idempotency.idempotency_waits")).isZero();
    }
  }

  private static PostgresIdempotencyStore polling() {
    return PostgresIdempotencyStore.builder(database.app()).listen(false).build();
  }

  private static PostgresThingServer.Builder serving(DataSource pool) {
    return PostgresThingServer.on(pool)
        .withoutListening()
        .lease(Duration.ofMinutes(5))
        .createThing(
            thing ->
                thing
                    .execution(Execution.RESERVED_SAME_DATABASE)
                    .inFlight(InFlightPolicy.attach(Duration.ofMinutes(1))));
  }
}
