package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine without notifications and advisory locks. */
class MissingDatabaseFeaturesTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  @RegisterExtension static final TestDatabase withoutLocks = TestDatabase.withoutAdvisoryLocks();

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
        .hasMessageContaining("could not use LISTEN and pg_notify")
        .hasMessageContaining("permission denied for function pg_notify")
        .hasMessageContaining("listen(false)");
  }

  @Test
  void withoutAdvisoryLocksTheStartFails() {
    assertThatThrownBy(
            () ->
                Things.verify(
                    PostgresIdempotencyStore.builder(withoutLocks.app()).listen(false).build(),
                    Things.CREATE_THING))
        .isInstanceOf(SetupException.class)
        .hasMessageContaining("a trial call of the start-up check could not claim a key")
        .hasMessageContaining("permission denied for function pg_try_advisory_xact_lock");
  }

  @Test
  void aReservedCallAndItsDuplicateOnAnotherServerNeedNoNotifications() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = waiting(database.app());
        ThingServer right = waiting(database.newAppPool());
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      CompletableFuture<Reply> duplicate = toRight.startThing(request);
      await().until(() -> right.events().contains(Kind.ATTACHED));
      gate.open();

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      assertThat(duplicate.join().isReplay()).as(duplicate.join().toString()).isTrue();
      assertThat(left.runs() + right.runs()).isEqualTo(1);
      assertThat(table.thingsOf(toLeft.user())).containsExactly(first.join().thingId());
      assertThat(table.count("SELECT count(*) FROM idempotency.idempotency_waits")).isZero();
    }
  }

  private static ThingServer waiting(DataSource pool) {
    return PostgresThingServer.on(pool)
        .withoutListening()
        .createThing(thing -> thing.attach(Duration.ofMinutes(1)))
        .start();
  }
}
