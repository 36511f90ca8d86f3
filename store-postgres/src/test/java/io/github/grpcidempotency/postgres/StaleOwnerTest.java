package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StaleOwnerTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String LEASE_MILLIS = "600";

  private final KeyTable table = new KeyTable(database);

  /** Its lease is long and nobody renews it, so any change of its row comes from somebody else. */
  private final IdempotencyStore successors =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();

  @Test
  void aServerStoppedPastItsLeaseCanNeitherRenewNorCompleteNorReleaseItsSuccessorsRow() {
    try (Gate gate = Gate.shut(database.superuser());
        ServerProcess stale =
            ServerProcess.start(PostgresThingServer.class, database.appUrl(), LEASE_MILLIS);
        ThingClient completing = ThingClient.to(Integer.parseInt(stale.awaitLine("port")));
        ThingClient releasing = completing.withKey(UUID.randomUUID().toString())) {
      CreateThingRequest succeeds = Things.waitingAt(gate);
      CreateThingRequest fails = Things.failingAfter(gate);
      CompletableFuture<Reply> completion = completing.startThing(succeeds);
      CompletableFuture<Reply> release = releasing.startThing(fails);
      gate.awaitWaiting(2);

      stale.stop();
      Claim afterCompletion = takeOver(Things.claimOf(completing, succeeds));
      Claim afterRelease = takeOver(Things.claimOf(releasing, fails));
      List<String> successorsRows = table.rowsOf(completing.user());
      stale.resume();

      await("the stale owner tries to renew").until(() -> stale.count("leaseLost") == 2);
      assertThat(table.rowsOf(completing.user())).as("renewed").isEqualTo(successorsRows);

      gate.open();
      assertThat(completion.join().reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(release.join().isOk()).isFalse();
      assertThat(stale.count("leaseLost")).as("heard once each").isEqualTo(2);
      assertThat(stale.count("settled")).isZero();
      assertThat(table.rowsOf(completing.user())).as("settled").isEqualTo(successorsRows);

      assertThat(afterCompletion.complete(answer("a"))).isEqualTo(Claim.Settled.DONE);
      assertThat(afterRelease.complete(answer("b"))).isEqualTo(Claim.Settled.DONE);
      assertThat(completing.createThing(succeeds).isReplay()).isTrue();
    }
  }

  /** Tries until the stopped server's lease has ended. */
  private Claim takeOver(ClaimRequest request) {
    ClaimResult taken =
        await()
            .pollInterval(Duration.ofMillis(20))
            .until(() -> successors.claim(request), ClaimResult.Won.class::isInstance);
    return ((ClaimResult.Won) taken).claim();
  }

  private static RecordedOutcome answer(String name) {
    return new RecordedOutcome.Response(
        Thing.newBuilder().setName(name).build().toByteString(), Optional.empty());
  }
}
