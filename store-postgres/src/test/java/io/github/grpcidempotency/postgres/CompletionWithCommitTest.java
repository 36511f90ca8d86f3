package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.internal.sql.LockId;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.HandleConsumer;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.StatementException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.util.PSQLException;

/** A handler's own transaction that is recorded and committed in one flush. */
class CompletionWithCommitTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final Procedure RESERVED =
      Procedure.named("jobs/make-thing")
          .execution(Execution.RESERVED)
          .resource(ResourceType.of("thing"), thing -> ResourceId.of(((Thing) thing).getId()))
          .attach(Duration.ofMinutes(1))
          .build();

  private static final IdempotentWork runner = database.closing(runnerOn(database.app()));

  private final KeyTable table = new KeyTable(database);
  private final Jdbi jdbi = Jdbi.create(database.app());
  private final Caller caller = Caller.of(UUID.randomUUID());
  private final UUID user = caller.userId();
  private final Thing thing = Thing.newBuilder().setId(UUID.randomUUID().toString()).build();

  private static IdempotentWork runnerOn(HikariDataSource pool) {
    return IdempotentWork.builder(
            PostgresIdempotencyStore.builder(pool).lease(Duration.ofMinutes(5)).build(), RESERVED)
        .build();
  }

  @BeforeAll
  static void aConstraintThatIsCheckedAtTheCommit() {
    database.execute(
        "CREATE TABLE app.wholes (part uuid REFERENCES app.things"
            + " DEFERRABLE INITIALLY DEFERRED)");
    database.execute("GRANT INSERT ON app.wholes TO things_app");
  }

  private interface Transaction {
    void run(Jdbi jdbi, HandleConsumer<SQLException> work) throws SQLException;
  }

  /** Each ends its transaction as it does without this library, or not at all. */
  private enum Ending {
    BY_JDBI((jdbi, work) -> jdbi.useTransaction(work)),
    BY_THE_CONNECTION(
        (jdbi, work) -> {
          try (Connection connection = begin()) {
            work.useHandle(Jdbi.open(connection));
            connection.commit();
          }
        }),
    NOT_AT_ALL(
        (jdbi, work) -> {
          try (Connection connection = begin()) {
            work.useHandle(Jdbi.open(connection));
          }
        }),
    ON_A_CONNECTION_THAT_HIDES_THE_DRIVER(
        (jdbi, work) -> {
          try (Connection connection = begin()) {
            work.useHandle(Jdbi.open(HostTransactionsTest.hidden(connection)));
          }
        });

    @SuppressWarnings("ImmutableEnumChecker") // it captures nothing
    private final Transaction transaction;

    Ending(Transaction transaction) {
      this.transaction = transaction;
    }

    void run(Jdbi jdbi, HandleConsumer<SQLException> work) throws SQLException {
      transaction.run(jdbi, work);
    }
  }

  @ParameterizedTest
  @EnumSource
  void effectAndRecordAreOneCommitForEveryEndOfTheTransaction(Ending ending) throws Exception {
    run(
        () -> {
          ending.run(
              jdbi,
              handle -> {
                ThingHandlers.insert(handle, user, thing);
                Joining.completeAndCommit(handle, thing);
                assertThat(table.joined(user)).as("committed").isTrue();
              });
          return thing;
        });

    assertRecorded();
  }

  @ParameterizedTest
  @EnumSource(names = {"BY_JDBI", "NOT_AT_ALL"})
  void theTransactionOfACallWithoutAKeyIsCommittedAsWell(Ending ending) throws Exception {
    ending.run(
        jdbi,
        handle -> {
          Joining.lock(handle);
          ThingHandlers.insert(handle, user, thing);
          Joining.completeAndCommit(handle, thing);
        });

    assertThat(table.thingsOf(user)).hasSize(1);
    assertThat(table.rowsOf(user)).isEmpty();
  }

  /**
   * Jdbi rolls back; plain JDBC code may forget to, and then commits nothing either, even if the
   * driver has saved the transaction from the failure.
   */
  @ParameterizedTest
  @ValueSource(strings = {"never", "always"})
  void aLostTransactionThatTheHandlerCommitsIsRolledBack(String autosave) {
    try (HikariDataSource pool =
        PostgresThingServer.pool(database.appUrl() + "&autosave=" + autosave)) {
      assertThatExceptionOfType(WorkRefusedException.class)
          .isThrownBy(
              () ->
                  run(
                      () -> {
                        table.clear();
                        try (Connection connection = pool.getConnection()) {
                          connection.setAutoCommit(false);
                          ThingHandlers.insert(Jdbi.open(connection), user, thing);
                          assertThatExceptionOfType(ClaimLostException.class)
                              .isThrownBy(
                                  () ->
                                      TransactionalCompletion.completeAndCommit(connection, thing));
                          connection.commit();
                        }
                        return thing;
                      }));
    }

    assertThat(table.thingsOf(user)).isEmpty();
  }

  @Test
  void anAnswerThatIsTooLargeToBeRecordedRollsItsTransactionBack() {
    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      Thing large = thing.toBuilder().setName("x".repeat(1 << 20)).build();
                      jdbi.useTransaction(
                          handle -> {
                            ThingHandlers.become(handle, user);
                            insertThing(handle);
                            Joining.completeAndCommit(handle, large);
                          });
                      return large;
                    }))
        .withMessageContaining("too large to be recorded");
    assertNothingIsLeft();
  }

  @Test
  void aConstraintThatFailsAtTheCommitLeavesNothing() {
    assertIsNotCommitted(
        "wholes_part_fkey",
        handle -> {
          handle.execute("INSERT INTO app.wholes VALUES (?)", UUID.randomUUID());
          insertAndCommit(handle);
        });
  }

  @Test
  void aTransactionInWhichAStatementFailedIsNotCommitted() {
    assertIsNotCommitted(
        "transaction is aborted",
        handle -> {
          ThingHandlers.insert(handle, user, thing);
          assertThatThrownBy(() -> handle.execute("SELECT 1 / 0"))
              .isInstanceOf(StatementException.class);
          Joining.completeAndCommit(handle, thing);
        });
  }

  private void assertIsNotCommitted(String reason, HandleConsumer<RuntimeException> work) {
    assertThatExceptionOfType(WorkFailedException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      assertThatExceptionOfType(JdbiException.class)
                          .isThrownBy(() -> jdbi.useTransaction(work))
                          .withStackTraceContaining(reason);
                      return thing;
                    }))
        .withMessageContaining("rolled back");

    assertNothingIsLeft();
  }

  @Test
  void aHandlerWithoutJdbiGetsTheDriversException() {
    assertThatExceptionOfType(PSQLException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      try (Connection connection = DriverManager.getConnection(database.appUrl())) {
                        connection.setAutoCommit(false);
                        TransactionalCompletion.completeAndCommit(connection, thing);
                      }
                      return thing;
                    }))
        .withMessageContaining("thing_id_fkey");

    assertNothingIsLeft();
  }

  /** Whatever the handler makes of the exception: fail, or believe that it was committed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConnectionCutBeforeTheCommitLeavesNothingAndAfterItReplays(boolean believes)
      throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      Callable<Thing> work =
          () -> {
            try {
              Jdbi.create(proxied).useTransaction(this::insertAndCommit);
            } catch (JdbiException broken) {
              if (!believes) {
                throw broken;
              }
            }
            return thing;
          };
      FaultProxy.Trap before = proxy.cutBefore("COMMIT");
      assertThatThrownBy(() -> run(work));
      assertThat(before.hasSprung()).isTrue();
      assertNothingIsLeft();

      FaultProxy.Trap after = proxy.cutAfter("COMMIT");
      if (believes) {
        assertThat(run(work).replayed()).isFalse();
      } else {
        assertThatThrownBy(() -> run(work));
      }
      assertThat(after.hasSprung()).isTrue();
    }
    assertRecorded();
  }

  @Test
  void aTransactionThatIsTriedAgainCompletesAgain() throws Exception {
    run(
        () -> {
          for (boolean fails : List.of(true, false)) {
            try {
              jdbi.useTransaction(
                  handle -> {
                    if (fails) {
                      handle.execute("INSERT INTO app.wholes VALUES (?)", UUID.randomUUID());
                    }
                    insertAndCommit(handle);
                  });
            } catch (JdbiException refused) {
              assertThat(fails).isTrue();
            }
          }
          return thing;
        });

    assertRecorded();
  }

  @Test
  void outsideATransactionItIsRefusedEvenWithoutAKey() {
    try (Handle handle = jdbi.open()) {
      assertThatIllegalStateException()
          .isThrownBy(() -> Joining.completeAndCommit(handle, thing))
          .withMessageContaining("no open transaction");
      assertThatIllegalStateException()
          .isThrownBy(
              () ->
                  run(
                      () -> {
                        Joining.completeAndCommit(handle, thing);
                        return thing;
                      }))
          .withMessageContaining("no open transaction");
    }
  }

  @Test
  void theSameCommitNotifiesADuplicateThatWaitsElsewhere() throws Exception {
    run(
        () -> {
          database.execute(
              "INSERT INTO idempotency.idempotency_waits (lock_id) VALUES (?)",
              LockId.of(CurrentHandler.claim().orElseThrow().request().key()));
          jdbi.useTransaction(this::insertAndCommit);
          return thing;
        });

    assertThat(table.count("SELECT count(*) FROM idempotency.idempotency_waits")).isZero();
  }

  private static Connection begin() throws SQLException {
    Connection connection = database.app().getConnection();
    connection.setAutoCommit(false);
    return connection;
  }

  private void insertAndCommit(Handle handle) {
    ThingHandlers.insert(handle, user, thing);
    Joining.completeAndCommit(handle, thing);
  }

  private void insertThing(Handle handle) {
    handle.execute(
        "INSERT INTO app.things (id, name) VALUES (?, '')", UUID.fromString(thing.getId()));
  }

  private WorkResult<Thing> run(Callable<Thing> work) throws Exception {
    return run(runner, work);
  }

  private WorkResult<Thing> run(IdempotentWork any, Callable<Thing> work) throws Exception {
    return any.run(RESERVED, caller, "token", ThingWork.request(), Thing.parser(), work);
  }

  private void assertRecorded() throws Exception {
    assertThat(table.joined(user)).isTrue();
    WorkResult<Thing> again =
        run(
            () -> {
              throw new AssertionError("it runs a second time");
            });
    assertThat(again.replayed()).isTrue();
    assertThat(again.value()).isEqualTo(thing);
  }

  private void assertNothingIsLeft() {
    assertThat(table.thingsOf(user)).isEmpty();
    assertThat(table.rowsOf(user)).isEmpty();
  }
}
