package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.FaultProxy.Trap;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The store fails in the midst of a claim or a completion. The procedure fails open, and still its
 * handler must not run once somebody else may hold the key, nor again once it has succeeded.
 */
class LostAnswersTest {
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

    assertThat(server.events()).contains(Kind.UNPROTECTED).doesNotContain(Kind.CLAIMED);
  }

  @ParameterizedTest
  @CsvSource({
    "LEASE_ENDED, before, SET attempt =, IDEMPOTENCY_IN_PROGRESS",
    "LEASE_ENDED, after, SET attempt =, IDEMPOTENCY_IN_PROGRESS",
    "EXPIRED, before, DELETE FROM idempotency.idempotency_keys, IDEMPOTENCY_IN_PROGRESS",
    "HELD, after, INSERT INTO idempotency.idempotency_keys, IDEMPOTENCY_STORE_UNAVAILABLE"
  })
  void aHandlerDoesNotRunIfItsClaimIsCutOff(Key key, String when, String sql, String reason) {
    Things.win(others, Things.claimOf(client, REQUEST));
    key.make.accept(table, client.user());
    Trap cut = (when.equals("before") ? proxy.cutBefore(sql) : proxy.cutAfter(sql)).andStayDown();

    assertIsRefusedWithoutRunning(cut, reason);
  }

  /** What has become of the key that another server has claimed. */
  private enum Key {
    LEASE_ENDED(KeyTable::endLeases),
    EXPIRED(KeyTable::expire),
    HELD((table, user) -> {});

    @SuppressWarnings("ImmutableEnumChecker") // it captures nothing
    private final BiConsumer<KeyTable, UUID> make;

    Key(BiConsumer<KeyTable, UUID> make) {
      this.make = make;
    }
  }

  @Test
  void aHandlerDoesNotRunIfTheOutboxQueryFailsAndTheDatabaseBeforeTheSecondLook() {
    Things.win(others, Things.claimOf(client, REQUEST));
    database.execute("ALTER TABLE app.outbox RENAME TO x");
    try {
      Trap cut = proxy.cutBefore("THEN CAST(NULL AS text[]) END AS outbox_status").andStayDown();

      assertIsRefusedWithoutRunning(cut, Things.IN_PROGRESS);
    } finally {
      database.execute("ALTER TABLE app.x RENAME TO outbox");
    }
  }

  @Test
  void aTransactionalClaimWithALostAnswerMayHaveFoundAHolderToo() {
    ClaimRequest request = Things.claimOf(client.user(), Things.TRANSACTIONAL);
    TransactionalStore store = PostgresIdempotencyStore.builder(proxied).build();
    Trap cut = proxy.cutAfter("pg_try_advisory_xact_lock").andStayDown();

    assertThatThrownBy(() -> store.claimInTransaction(request))
        .isInstanceOfSatisfying(
            StoreException.class,
            failure -> assertThat(failure.phase()).isEqualTo(FailurePhase.ANSWER_LOST));
    assertThat(cut.hasSprung()).isTrue();
  }

  /** A procedure that fails open must not run its handler beside a holder that is known. */
  @ParameterizedTest
  @EnumSource
  void aHolderIsKnownEvenIfNothingMoreCanBeAsked(KnownHolder holder) {
    ClaimRequest request = Things.claimOf(client, REQUEST);
    Things.win(others, request);
    if (holder != KnownHolder.NOTHING_INSERTED) {
      table.endLeases(client.user());
    }
    TransactionalStore unlucky =
        PostgresIdempotencyStore.builder(beforeConnection(3, proxy::refuse)).build();

    assertThatThrownBy(
            () -> {
              switch (holder) {
                case NOTHING_INSERTED -> unlucky.claim(request);
                case ABANDONED_ROW_READ -> unlucky.claim(retry(request));
                case ABANDONED_ROW_READ_BEFORE_A_TRANSACTION ->
                    unlucky.claimInTransaction(retry(request));
              }
            })
        .isInstanceOfSatisfying(
            StoreException.class,
            failure -> assertThat(failure.phase()).isEqualTo(FailurePhase.ROW_SEEN));
  }

  private enum KnownHolder {
    NOTHING_INSERTED,
    ABANDONED_ROW_READ,
    ABANDONED_ROW_READ_BEFORE_A_TRANSACTION
  }

  private static ClaimRequest retry(ClaimRequest request) {
    return request.markedAsRetry(true);
  }

  /** Its lease may end, and another server may take the key over. */
  @Test
  void aClaimThatWonTooLateMayBelongToAnother() {
    PostgresIdempotencyStore unlucky =
        PostgresIdempotencyStore.builder(beforeConnection(3, proxy::refuse))
            .lease(Duration.ofMillis(300))
            .build();
    Trap slow = proxy.holdAfter("INSERT INTO idempotency.idempotency_keys", Duration.ofMillis(150));

    assertThatThrownBy(() -> unlucky.claim(Things.claimOf(client, REQUEST)))
        .isInstanceOfSatisfying(
            StoreException.class,
            failure -> assertThat(failure.phase()).isEqualTo(FailurePhase.ANSWER_LOST));
    assertThat(slow.hasSprung()).isTrue();
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
          "UPDATE idempotency.idempotency_keys SET user_uuid = gen_random_uuid() WHERE user_uuid = ?",
          client.user());

      assertThat(toHurried.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(hurried.runs()).isZero();
      other.rollback();
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
  void aClaimWhoseAnswerIsLostIsSentAgainAndWon() {
    Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys");

    Reply reply = client.createThing(REQUEST);

    assertThat(cut.hasSprung()).isTrue();
    assertThat(reply.isOk()).isTrue();
    assertThat(client.createThing(REQUEST).bytes()).isEqualTo(reply.bytes());
    assertThat(server.events())
        .containsSubsequence(Kind.CLAIMED, Kind.SETTLED, Kind.REPLAYED)
        .doesNotContain(Kind.UNPROTECTED);
  }

  private void assertIsRefusedWithoutRunning(Trap cut, String reason) {
    assertThat(client.createThing(REQUEST).reason()).isEqualTo(reason);

    assertThat(cut.hasSprung()).isTrue();
    assertThat(server.runs()).isZero();
  }

  /**
   * A claim whose answer was lost is sent again after others have owned and released its row. It
   * then inserts a new operation, so that no owner of the old one holds a fence of it.
   */
  @Test
  void aClaimThatIsSentAgainDoesNotReviveTheFenceOfAnOwnerThatWasOvertaken() {
    ClaimRequest request = Things.claimOf(client, REQUEST);
    List<Claim> overtaken = new ArrayList<>();
    IdempotencyStore unlucky =
        PostgresIdempotencyStore.builder(
                beforeConnection(
                    2,
                    () -> {
                      overtaken.add(takeOver(request));
                      assertThat(takeOver(request).release()).isEqualTo(Settled.DONE);
                    }))
            .lease(Duration.ofMinutes(5))
            .build();
    Trap cut = proxy.cutAfter("INSERT INTO idempotency.idempotency_keys");
    Claim dead = Things.win(unlucky, request);
    assertThat(cut.hasSprung()).isTrue();

    Claim owner = takeOver(request);

    assertThat(owner.operationId()).isEqualTo(dead.operationId());
    assertThat(overtaken.get(0).complete(Things.ANSWER)).isEqualTo(Settled.LOST);
    assertThat(owner.complete(Things.ANSWER)).isEqualTo(Settled.DONE);
  }

  private Claim takeOver(ClaimRequest request) {
    table.endLeases(client.user());
    return Things.win(others, request);
  }

  /** A pool of the application's that something happens to before it gives one connection. */
  private PGSimpleDataSource beforeConnection(int number, Runnable event) {
    AtomicInteger connections = new AtomicInteger();
    PGSimpleDataSource dataSource =
        new PGSimpleDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            if (connections.incrementAndGet() == number) {
              event.run();
            }
            return super.getConnection();
          }
        };
    dataSource.setUrl(proxy.jdbcUrl());
    return dataSource;
  }
}
