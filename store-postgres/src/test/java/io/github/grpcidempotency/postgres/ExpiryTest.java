package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ExpiryTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private final KeyTable table = new KeyTable(database);

  @Test
  void aKeyWhoseRowHasExpiredButWasNotSweptIsFreeAtOnce() {
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(Things.named("of yesterday"));
      table.expire(client.user());

      Reply second = client.createThing(Things.named("of today"));

      assertThat(second.isOk()).isTrue();
      assertThat(second.isReplay()).isFalse();
      assertThat(second.thingId()).isNotEqualTo(first.thingId());
      assertThat(table.rowsOf(client.user())).hasSize(1);
      assertThat(client.createThing(Things.named("of today")).bytes()).isEqualTo(second.bytes());
    }
  }

  @Test
  void anExpiredReservationWhoseOwnerDiedIsFreeForAnyRequest() {
    try (ThingServer server = PostgresThingServer.on(database.app()).start();
        ThingClient client = ThingClient.to(server.port())) {
      PostgresIdempotencyStore dead = PostgresIdempotencyStore.builder(database.app()).build();
      Things.win(dead, Things.claimOf(client, Things.named("of the dead")));
      table.expire(client.user());

      assertThat(client.createThing(Things.named("of the living")).isOk()).isTrue();
    }
  }
}
