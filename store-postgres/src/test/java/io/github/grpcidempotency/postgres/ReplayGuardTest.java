package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who has lost the right to an answer does not get it again. */
class ReplayGuardTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final Set<UUID> revoked = ConcurrentHashMap.newKeySet();

  @ParameterizedTest
  @EnumSource
  void anAnswerIsNotReplayedToWhoseRightsWereRevokedSince(Execution execution) {
    try (ThingServer server =
            guarded((caller, thing) -> !revoked.contains(caller.userId()), execution).start();
        ThingClient alice = ThingClient.to(server.port())) {
      ThingClient bob = alice.as(UUID.randomUUID());
      Reply first = alice.createThing(REQUEST);
      bob.createThing(REQUEST);
      assertThat(alice.createThing(REQUEST).bytes()).isEqualTo(first.bytes());

      revoked.add(alice.user());

      assertDenied(alice.createThing(REQUEST));
      assertThat(bob.createThing(REQUEST).isReplay()).isTrue();
      revoked.clear();
      assertThat(alice.createThing(REQUEST).bytes()).isEqualTo(first.bytes());
      assertThat(server.runs()).isEqualTo(2);
    }
  }

  @Test
  void aGuardGetsTheCallerAndTheResource() {
    List<String> asked = new CopyOnWriteArrayList<>();
    ReplayGuard noting =
        (caller, thing) -> {
          asked.add(caller + " " + thing);
          return true;
        };
    try (ThingServer server = guarded(noting, Execution.RESERVED).start();
        ThingClient client = ThingClient.to(server.port()).in("acme/apollo")) {
      Reply first = client.createThing(REQUEST);
      assertThat(asked).isEmpty();

      client.createThing(REQUEST);

      Caller caller = Caller.of(client.user()).inTenant("acme").inProject("apollo");
      assertThat(asked).containsExactly(caller + " " + Optional.of(first.thingId()));
    }
  }

  /** It blocks as a handler may, on behalf of the caller: here on the caller's own rows. */
  @Test
  void aGuardMayAskTheDatabaseOnTheCallersBehalf() {
    Jdbi jdbi = Jdbi.create(database.app());
    ReplayGuard owns =
        (caller, thing) ->
            jdbi.inTransaction(
                handle -> {
                  handle
                      .createQuery("SELECT set_config('app.current_user_id', :user, true)")
                      .bind("user", Things.caller().toString())
                      .mapTo(String.class)
                      .one();
                  return handle
                      .createQuery("SELECT EXISTS (SELECT FROM app.things WHERE id = :thing)")
                      .bind("thing", thing.orElseThrow())
                      .mapTo(Boolean.class)
                      .one();
                });
    try (ThingServer server = guarded(owns, Execution.RESERVED).start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(REQUEST);
      assertThat(client.createThing(REQUEST).isReplay()).isTrue();

      database
          .superuser()
          .useHandle(
              handle ->
                  handle.execute(
                      "UPDATE app.things SET user_id = ? WHERE id = ?",
                      UUID.randomUUID(),
                      first.thingId()));

      assertDenied(client.createThing(REQUEST));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aGuardThatFailsLetsNothingThrough(Execution execution) {
    ReplayGuard failing =
        (caller, thing) -> {
          throw new IllegalStateException("the rights cannot be read");
        };
    try (ThingServer server = guarded(failing, execution).start();
        ThingClient client = ThingClient.to(server.port())) {
      assertThat(client.createThing(REQUEST).isOk()).isTrue();

      Reply replay = client.createThing(REQUEST);

      assertDenied(replay);
      assertThat(replay.toString()).doesNotContain("the rights cannot be read");
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  /** Who waits for a call asks for its answer when it is there, not when the waiting began. */
  @ParameterizedTest
  @EnumSource
  void aDuplicateThatWaitedIsAskedForWhenTheAnswerIsThere(Execution execution) {
    try (Gate gate = Gate.shut(database.superuser());
        ThingServer left = attaching(execution).start();
        ThingServer right = attaching(execution).start();
        ThingClient toLeft = ThingClient.to(left.port());
        ThingClient toRight = ThingClient.to(right.port()).like(toLeft)) {
      CreateThingRequest request = Things.waitingAt(gate);
      CompletableFuture<Reply> first = toLeft.startThing(request);
      gate.awaitWaiting(1);
      List<CompletableFuture<Reply>> duplicates =
          List.of(toLeft.startThing(request), toRight.startThing(request));
      await().until(() -> left.events().contains("attached"));
      await().until(() -> right.events().contains("attached"));

      revoked.add(toLeft.user());
      gate.open();

      assertThat(first.join().isOk()).as(first.join().toString()).isTrue();
      duplicates.forEach(duplicate -> assertDenied(duplicate.join()));
      assertThat(left.runs() + right.runs()).isEqualTo(1);
    }
  }

  private PostgresThingServer.Builder attaching(Execution execution) {
    return PostgresThingServer.on(database.app())
        .createThing(
            thing ->
                thing
                    .guard((caller, resource) -> !revoked.contains(caller.userId()))
                    .inFlight(InFlightPolicy.attach(Duration.ofMinutes(1))))
        .execution(execution);
  }

  private static PostgresThingServer.Builder guarded(ReplayGuard guard, Execution execution) {
    return PostgresThingServer.on(database.app())
        .createThing(thing -> thing.guard(guard))
        .execution(execution);
  }

  private static void assertDenied(Reply reply) {
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
    assertThat(reply.reason()).isEqualTo("IDEMPOTENCY_REPLAY_DENIED");
    assertThat(reply.bytes()).isEmpty();
    assertThat(reply.retryAfter()).isEmpty();
  }
}
