package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.fault.ThingClient;
import io.github.grpcidempotency.fault.ThingClient.Reply;
import io.github.grpcidempotency.fault.ThingServer;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class NamespaceTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  @Test
  void theSameUserAndKeyAndBodyInAnotherNamespaceIsAnotherOperation() {
    CreateThingRequest request = Things.named("a thing");
    try (ThingServer server = ThingServer.on(database.app()).start();
        ThingClient here = ThingClient.to(server.port()).in("here")) {
      ThingClient there = here.in("there");
      ThingClient nowhere = here.in("");

      Reply createdHere = here.createThing(request);
      Reply createdThere = there.createThing(request);
      Reply createdNowhere = nowhere.createThing(request);

      assertThat(server.runs()).isEqualTo(3);
      assertThat(createdThere.isReplay()).isFalse();
      assertThat(createdNowhere.isReplay()).isFalse();
      assertThat(here.createThing(request).bytes()).isEqualTo(createdHere.bytes());
      assertThat(there.createThing(request).bytes()).isEqualTo(createdThere.bytes());
      assertThat(nowhere.createThing(request).bytes()).isEqualTo(createdNowhere.bytes());
      assertThat(server.runs()).isEqualTo(3);
    }
  }
}
