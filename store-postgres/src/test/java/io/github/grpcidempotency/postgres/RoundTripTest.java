package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RoundTripTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  @Test
  void aClaimACompletionAndTheReplayOfAMarkedRetryAreOneRoundTripEach() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server = PostgresThingServer.on(database.app()).store(proxied).start();
        ThingClient client = ThingClient.to(server.port())) {
      client.withKey(UUID.randomUUID().toString()).createThing(REQUEST);
      proxy.forgetRoundTrips();

      Reply created = client.createThing(REQUEST);
      assertThat(proxy.roundTrips()).hasSize(2);
      assertThat(proxy.roundTrips().get(0)).contains("INSERT INTO idempotency.idempotency_keys");
      assertThat(proxy.roundTrips().get(1)).contains("UPDATE idempotency.idempotency_keys");

      proxy.forgetRoundTrips();
      Reply replayed = client.with("idempotency-retry", "true").createThing(REQUEST);
      assertThat(replayed.bytes()).isEqualTo(created.bytes());
      assertThat(replayed.operationStatus()).contains("processing");
      assertThat(proxy.roundTrips()).singleElement().asString().contains("FROM app.outbox");

      proxy.forgetRoundTrips();
      assertThat(client.createThing(REQUEST).bytes()).isEqualTo(created.bytes());
      assertThat(proxy.roundTrips()).as("a replay of a call that does not say so").hasSize(2);
    }
  }

  @Test
  void aClaimAtCommitAddsNoneToItsHandlersStatementsAndTheCommit() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
        ThingServer server =
            PostgresThingServer.on(proxied)
                .createThing(thing -> thing.claimAtCommit())
                .transactional()
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      client.withNewKey().createThing(REQUEST);
      proxy.forgetRoundTrips();

      Reply first = client.createThing(REQUEST);
      assertThat(proxy.roundTrips()).hasSize(3);
      assertThat(proxy.roundTrips().get(0))
          .contains("BEGIN", "app.things")
          .doesNotContain("idempotency");
      assertThat(proxy.roundTrips().get(1)).contains("app.outbox");
      assertThat(proxy.roundTrips().get(2))
          .contains("pg_try_advisory_xact_lock", "INSERT INTO", "COMMIT");

      proxy.forgetRoundTrips();
      assertThat(client.with("idempotency-retry", "true").createThing(REQUEST).bytes())
          .isEqualTo(first.bytes());
      assertThat(proxy.roundTrips()).hasSize(1);
      assertThat(server.runs()).isEqualTo(2);

      proxy.forgetRoundTrips();
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();
      assertThat(proxy.roundTrips())
          .as("the handler's, its refused commit, rollback, look-up")
          .hasSize(5);
      assertThat(server.runs()).isEqualTo(3);
    }
  }

  @Test
  void theLeasesOfAServerAreRenewedInOneRoundTripAndAReleaseIsOne() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      IdempotencyStore store = PostgresIdempotencyStore.builder(proxied).build();
      List<Claim> claims =
          Stream.generate(() -> Things.claimOf(UUID.randomUUID(), Things.CREATE_THING))
              .limit(3)
              .map(request -> Things.win(store, request))
              .toList();

      proxy.forgetRoundTrips();
      assertThat(store.renew(claims)).hasSize(3);
      assertThat(proxy.roundTrips()).hasSize(1);

      proxy.forgetRoundTrips();
      claims.get(0).release();
      assertThat(proxy.roundTrips()).hasSize(1);
    }
  }
}
