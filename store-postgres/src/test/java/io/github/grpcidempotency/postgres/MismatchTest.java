package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MismatchTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest OTHER_BODY = Things.named("something else");

  @Test
  void anotherBodyIsRefusedWhileTheFirstCallIsStillRunningAndAfterwards() {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer first = PostgresThingServer.on(database.app()).start();
        ThingServer second = PostgresThingServer.on(database.app()).start();
        ThingClient toFirst = ThingClient.to(first.port());
        ThingClient toSecond = ThingClient.to(second.port()).like(toFirst)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> running = toFirst.startThing(request);
      gate.awaitWaiting(1);

      assertIsReused(toFirst.createThing(OTHER_BODY));
      assertIsReused(toSecond.createThing(OTHER_BODY));
      assertIsReused(toFirst.createOther(request));
      assertIsReused(toSecond.createOther(request));

      gate.open();
      assertThat(running.join().isOk()).isTrue();
      assertIsReused(toFirst.createThing(OTHER_BODY));
      assertIsReused(toSecond.createThing(OTHER_BODY));
      assertThat(first.runs() + second.runs()).isEqualTo(1);
    }
  }

  private static void assertIsReused(Reply reply) {
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(reply.reason()).isEqualTo(Things.KEY_REUSED);
  }
}
