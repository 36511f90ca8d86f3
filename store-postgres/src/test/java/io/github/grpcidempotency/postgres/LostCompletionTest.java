package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The handler has succeeded, and its server is cut off from the database before that is known. */
class LostCompletionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String COMPLETION = "SET response_bytes =";
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  /** Outlasts any test: nothing here is to be had by waiting for a lease to end. */
  private static final Duration LEASE = Duration.ofMinutes(5);

  private final KeyTable table = new KeyTable(database);

  @Test
  void anImmediateRetryDoesNotRunTheHandlerAgainAndTheAnswerIsRecordedOnceTheDatabaseIsBack() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer cutOff =
            PostgresThingServer.on(database.app()).store(proxied).lease(LEASE).start();
        ThingServer other = PostgresThingServer.on(database.app()).lease(LEASE).start();
        ThingClient toCutOff = ThingClient.to(cutOff.port());
        ThingClient toOther = ThingClient.to(other.port()).like(toCutOff)) {
      FaultProxy.Trap cut = proxy.cutBefore(COMPLETION).andStayDown();

      assertThat(toCutOff.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(cut.hasSprung()).isTrue();
      assertThat(toCutOff.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(toOther.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(cutOff.runs() + other.runs()).isEqualTo(1);

      proxy.restore();
      await().until(() -> cutOff.events().contains("recordedLate"));

      UUID thing = onlyThingOf(toCutOff);
      for (Reply retried : List.of(toCutOff.createThing(REQUEST), toOther.createThing(REQUEST))) {
        assertThat(retried.isReplay()).isTrue();
        assertThat(retried.thingId()).isEqualTo(thing);
      }
      assertThat(cutOff.runs() + other.runs()).isEqualTo(1);
    }
  }

  @Test
  void anAnswerWhoseRecordingGotNoResponseIsReplayed() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server =
            PostgresThingServer.on(database.app()).store(proxied).lease(LEASE).start();
        ThingClient client = ThingClient.to(server.port())) {
      FaultProxy.Trap cut = proxy.cutAfter(COMPLETION);

      assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(cut.hasSprung()).isTrue();
      await().until(() -> server.events().contains("recordedLate"));

      Reply retried = client.createThing(REQUEST);
      assertThat(retried.isReplay()).isTrue();
      assertThat(retried.thingId()).isEqualTo(onlyThingOf(client));
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  private UUID onlyThingOf(ThingClient client) {
    List<UUID> things = table.thingsOf(client.user());
    assertThat(things).hasSize(1);
    return things.get(0);
  }
}
