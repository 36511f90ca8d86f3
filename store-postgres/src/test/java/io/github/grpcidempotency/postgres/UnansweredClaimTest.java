package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.FaultProxy.Trap;
import io.github.grpcidempotency.fault.Gate;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionalStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The store fails in the midst of a claim. The procedure fails open, and still its handler must not
 * run once somebody else may hold the key.
 */
class UnansweredClaimTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private final KeyTable table = new KeyTable(database);
  private final IdempotencyStore others =
      PostgresIdempotencyStore.builder(database.app()).lease(Duration.ofMinutes(5)).build();

  private final FaultProxy proxy = FaultProxy.before(database.appUrl());
  private final HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl());
  private final ThingServer server = PostgresThingServer.on(database.app()).store(proxied).start();
  private final ThingClient client = ThingClient.to(server.port());

  @AfterEach
  void close() {
    client.close();
    server.close();
    proxied.close();
    proxy.close();
  }

  @Test
  void aHandlerRunsUnguardedIfNothingOfItsClaimReachedTheDatabase() {
    proxy.refuse();

    // The first calls may still be given connections that have just died.
    await().until(() -> client.createThing(REQUEST).isOk());

    assertThat(server.events()).contains("unprotected FAILED_OPEN").doesNotContain("claimed");
  }

  @Test
  void aHandlerDoesNotRunIfTheDatabaseFailsBeforeATakeover() {
    Things.win(others, Things.claimOf(client, REQUEST));
    table.endLeases(client.user());
    Trap cut = proxy.cutBefore("SET attempt =").andStayDown();

    assertIsRefusedWithoutRunning(cut);
  }

  @Test
  void aHandlerDoesNotRunIfTheAnswerToATakeoverIsLost() {
    Things.win(others, Things.claimOf(client, REQUEST));
    table.endLeases(client.user());
    Trap cut = proxy.cutAfter("SET attempt =").andStayDown();

    assertIsRefusedWithoutRunning(cut);
  }

  @Test
  void aHandlerDoesNotRunIfTheDatabaseFailsBeforeAnExpiredRowIsReplaced() {
    Things.win(others, Things.claimOf(client, REQUEST));
    table.expire(client.user());
    Trap cut = proxy.cutBefore("DELETE FROM idempotency.idempotency_keys").andStayDown();

    assertIsRefusedWithoutRunning(cut);
  }

  @Test
  void aHandlerDoesNotRunIfTheAnswerToItsClaimIsLostAndItCannotLookAgain() {
    Things.win(others, Things.claimOf(client, REQUEST));
    Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys").andStayDown();

    assertIsRefusedWithoutRunning(cut, Things.STORE_UNAVAILABLE);
  }

  @Test
  void aHandlerDoesNotRunIfTheOutboxQueryFailsAndTheDatabaseBeforeTheSecondLook() {
    Things.win(others, Things.claimOf(client, REQUEST));
    database.superuser().useHandle(handle -> handle.execute("ALTER TABLE app.outbox RENAME TO x"));
    try {
      Trap cut = proxy.cutBefore("THEN CAST(NULL AS text[]) END AS outbox_status").andStayDown();

      assertIsRefusedWithoutRunning(cut, Things.STORE_UNAVAILABLE);
    } finally {
      database
          .superuser()
          .useHandle(handle -> handle.execute("ALTER TABLE app.x RENAME TO outbox"));
    }
  }

  @Test
  void aTransactionalClaimWithALostAnswerMayHaveFoundAHolderToo() {
    ClaimRequest reserved = Things.claimOf(client, REQUEST);
    Procedure transactional =
        Procedure.annotated(ThingServiceGrpc.getCreateThingMethod())
            .execution(Execution.TRANSACTIONAL)
            .build();
    ClaimRequest request = Things.claimOf(reserved.key(), transactional, reserved.fingerprint());
    TransactionalStore store = PostgresIdempotencyStore.builder(proxied).build();
    Trap cut = proxy.cutAfter("pg_try_advisory_xact_lock").andStayDown();

    assertThatThrownBy(() -> store.claimInTransaction(request))
        .isInstanceOfSatisfying(
            StoreException.class,
            failure -> assertThat(failure.phase()).isEqualTo(FailurePhase.ANSWER_LOST));
    assertThat(cut.hasSprung()).isTrue();
  }

  @Test
  void aHandlerDoesNotRunIfItsClaimWaitedInVainForAnotherOne() {
    String impatient = database.appUrl() + "&options=-c%20lock_timeout=100";
    try (HikariDataSource pool = PostgresThingServer.pool(impatient);
        ThingServer hurried = PostgresThingServer.on(pool).start();
        ThingClient toHurried = ThingClient.to(hurried.port()).like(client);
        Handle other = database.superuser().open()) {
      Things.win(others, Things.claimOf(client, REQUEST));
      other.begin();
      // Has the effect of an INSERT whose commit is slow.
      other.execute(
          "UPDATE idempotency.idempotency_keys SET user_id = gen_random_uuid() WHERE user_id = ?",
          client.user());

      assertThat(toHurried.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(hurried.runs()).isZero();
      other.rollback();
    }
  }

  @Test
  void aHandlerDoesNotRunWhileItsOwnServerStillRunsTheFirstCall() {
    try (Gate gate = Gate.shut(database.superuser())) {
      CreateThingRequest slow = Things.waitingAt(gate);
      CompletableFuture<Reply> first = client.startThing(slow);
      gate.awaitWaiting(1);
      proxy.refuse();

      assertThat(client.createThing(slow).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(server.runs()).isEqualTo(1);

      proxy.restore();
      gate.open();
      first.join();
      await().until(() -> client.createThing(slow).isReplay());
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  /** Two owners would share one fence, and both record. */
  @Test
  void aClaimWhoseAnswerIsLostIsNotWonAgainOnceItWasTakenOver() {
    Duration lease = Duration.ofMillis(200);
    try (HikariDataSource patient = PostgresThingServer.pool(proxy.jdbcUrl())) {
      patient.setConnectionTimeout(Duration.ofSeconds(30).toMillis());
      try (ThingServer cutOff =
              PostgresThingServer.on(database.app()).store(patient).lease(lease).start();
          ThingClient toCutOff = ThingClient.to(cutOff.port()).like(client)) {
        Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys").andStayDown();
        CompletableFuture<Reply> sentAgain = toCutOff.startThing(REQUEST);
        await().until(cut::hasSprung);
        ClaimRequest request = Things.claimOf(toCutOff, REQUEST);
        await().until(() -> others.claim(request) instanceof ClaimResult.Won);

        proxy.restore();

        assertThat(sentAgain.join().reason()).isEqualTo(Things.IN_PROGRESS);
        assertThat(cutOff.runs()).isZero();
      }
    }
  }

  @Test
  void aClaimWhoseAnswerIsLostIsAskedForAgainAndWon() {
    Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys");

    Reply reply = client.createThing(REQUEST);

    assertThat(cut.hasSprung()).isTrue();
    assertThat(reply.isOk()).isTrue();
    assertThat(client.createThing(REQUEST).bytes()).isEqualTo(reply.bytes());
    assertThat(server.events()).containsExactly("claimed", "settled", "replayed");
  }

  private void assertIsRefusedWithoutRunning(Trap cut) {
    assertIsRefusedWithoutRunning(cut, Things.IN_PROGRESS);
  }

  private void assertIsRefusedWithoutRunning(Trap cut, String reason) {
    assertThat(client.createThing(REQUEST).reason()).isEqualTo(reason);

    assertThat(cut.hasSprung()).isTrue();
    assertThat(server.runs()).isZero();
  }
}
