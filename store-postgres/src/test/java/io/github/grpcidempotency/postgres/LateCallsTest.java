package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.EventJournal;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that are claimed with their handler's first statement. */
class LateCallsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);
  private final EventJournal journal = new EventJournal();

  /** Its id is unique, so that a second insert would wait for the first one, or fail. */
  private final CreateThingRequest request =
      CreateThingRequest.newBuilder()
          .setName("a thing")
          .setThing(Thing.newBuilder().setId(UUID.randomUUID().toString()))
          .build();

  @AfterEach
  void everyConnectionIsGivenBack() {
    database.awaitAllConnectionsBack();
  }

  @Test
  void aCallHasOneRoundTripForEachStatementOfItsHandlerAndOneForItsCommit() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server = late(proxied).start();
        ThingClient client = ThingClient.to(server.port())) {
      client.as(UUID.randomUUID()).createThing(Things.named("another thing"));
      proxy.forgetRoundTrips();

      Reply first = client.createThing(request);
      assertThat(proxy.roundTrips()).hasSize(3);
      assertThat(proxy.roundTrips().get(0)).contains("BEGIN", "refuse_claim", "app.things");
      assertThat(proxy.roundTrips().get(1)).contains("app.outbox");
      assertThat(proxy.roundTrips().get(2)).contains("INSERT INTO", "COMMIT");

      proxy.forgetRoundTrips();
      assertThat(client.with("idempotency-retry", "true").createThing(request).bytes())
          .isEqualTo(first.bytes());
      assertThat(proxy.roundTrips()).hasSize(1);
      assertThat(server.runs()).isEqualTo(2);

      proxy.forgetRoundTrips();
      assertThat(client.createThing(request).isReplay()).isTrue();
      assertThat(proxy.roundTrips()).hasSize(3);
      assertThat(server.runs()).isEqualTo(3);
    }
  }

  @Test
  void aDuplicateOfARunningCallNeitherWaitsForItsRowsNorFailsOnThem() {
    try (ThingServer left = late(database.app()).start();
        ThingServer right = late(database.newAppPool()).start();
        ThingServer waiting = attaching(database.newAppPool()).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft);
        ThingClient toWaiting = ThingClient.to(waiting.port()).like(toLeft);
        Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest slow = request.toBuilder().putLabels("gate", gate.name()).build();
      CompletableFuture<Reply> first = toLeft.startThing(slow);
      gate.awaitWaiting(1);

      assertThat(toRight.createThing(slow).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(toLeft.createThing(slow).reason()).isEqualTo(Things.IN_PROGRESS);
      CompletableFuture<Reply> attached = toWaiting.startThing(slow);
      await().until(() -> journal.kinds().contains("Attached"));
      gate.open();

      assertThat(first.join().isOk()).isTrue();
      assertThat(attached.join().isReplay()).isTrue();
      assertThat(attached.join().bytes()).isEqualTo(first.join().bytes());
      assertThat(table.thingsOf(toLeft.user())).hasSize(1);
      assertThat(left.runs()).as("its own server knows that it runs").isEqualTo(1);
      assertThat(right.runs()).isEqualTo(1);
    }
  }

  private PostgresThingServer.Builder attaching(HikariDataSource pool) {
    return late(
        pool,
        ThingHandlers.transactional(),
        thing -> thing.inFlight(InFlightPolicy.attach(Duration.ofMinutes(1))));
  }

  private PostgresThingServer.Builder late(HikariDataSource pool) {
    return late(pool, ThingHandlers.transactional());
  }

  private PostgresThingServer.Builder late(HikariDataSource pool, ThingHandler handler) {
    return late(pool, handler, thing -> thing);
  }

  private PostgresThingServer.Builder late(
      HikariDataSource pool, ThingHandler handler, UnaryOperator<ProcedureBuilder<Thing>> change) {
    return PostgresThingServer.on(pool)
        .createThing(thing -> change.apply(thing).claim(ClaimTiming.WITH_FIRST_STATEMENT))
        .transactional(handler)
        .listener(journal.listener());
  }
}
