package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CrashTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Duration LEASE = Duration.ofMillis(1_200);

  private final KeyTable table = new KeyTable(database);

  @Test
  void aServerKilledBetweenReservationAndCompletionBlocksItsKeyNoLongerThanALease() {
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess doomed =
            ServerProcess.start(
                PostgresThingServer.class, database.appUrl(), Long.toString(LEASE.toMillis()));
        ThingServer survivor = PostgresThingServer.on(database.app()).lease(LEASE).start();
        ThingClient toDoomed = ThingClient.to(Integer.parseInt(doomed.awaitLine("port")));
        ThingClient toSurvivor = ThingClient.to(survivor.port()).like(toDoomed)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> lost = toDoomed.startThing(request);
      gate.awaitWaiting(1);

      doomed.kill();
      OffsetDateTime killed = database.now();
      assertThat(lost.join().isOk()).isFalse();
      gate.open();

      assertThat(table.leaseEnd(toSurvivor.user())).isBefore(killed.plus(LEASE));
      Reply retried = Things.untilAnswered(toSurvivor, request);
      assertThat(retried.isReplay()).isFalse();
      assertThat(survivor.runs()).isEqualTo(1);
      assertThat(table.thingsOf(toSurvivor.user())).containsExactly(retried.thingId());
    }
  }
}
