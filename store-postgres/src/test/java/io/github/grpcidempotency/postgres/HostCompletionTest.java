package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.rpc.Code;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.handler.CurrentHandler;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reserved call whose answer the host's own transaction records. */
@SuppressWarnings("NullAway") // it does not know the method that starts what is static
class HostCompletionTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final Procedure RESERVED = ThingWork.kind(Execution.RESERVED);

  private static ThreadTransactions host;
  private static IdempotentWork runner;

  private final KeyTable table = new KeyTable(database);
  private final Caller caller = Caller.of(UUID.randomUUID());
  private final UUID user = caller.userId();
  private final Thing thing = Thing.newBuilder().setId(UUID.randomUUID().toString()).build();

  @BeforeAll
  static void start() {
    host = new ThreadTransactions(database.app());
    runner = runnerOn(store(host), RESERVED);
  }

  @AfterAll
  static void stop() {
    runner.close();
  }

  private static PostgresIdempotencyStore store(HostTransactions host) {
    return PostgresIdempotencyStore.builder(database.app())
        .lease(Duration.ofMinutes(5))
        .hostTransactions(host)
        .build();
  }

  private static IdempotentWork runnerOn(PostgresIdempotencyStore store, Procedure kind) {
    return IdempotentWork.builder(store, kind).build();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    host.behave();
    database.awaitAllConnectionsBack();
    assertThat(host.current()).isEmpty();
  }

  @Test
  void theRecordIsWrittenLastInTheHostsTransaction() throws Exception {
    WorkResult<Thing> made =
        run(
            inNew(
                () -> {
                  TransactionalCompletion.complete(thing);
                  host.atFlush(handle -> ThingHandlers.insert(handle, user, thing));
                }));

    assertThat(made.replayed()).isFalse();
    assertThat(table.joined(user)).isTrue();
    assertThat(table.rowsOf(user).toString()).contains(thing.getId());
    assertThat(rerun().replayed()).isTrue();
  }

  @Test
  void completingIsOneRoundTripOfTheHostsWithItsCommitOrBeforeIt() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThreadTransactions counted = new ThreadTransactions(proxied);
      IdempotentWork counting = runnerOn(store(counted), RESERVED);
      run(
          counting,
          "counted",
          () -> {
            counted.inNew(
                () -> {
                  ThingHandlers.insert(counted.handle(), user, thing);
                  proxy.forgetRoundTrips();
                  TransactionalCompletion.complete(thing);
                });
            return thing;
          });
      counting.close();

      assertThat(proxy.roundTrips()).hasSize(2);
      assertThat(proxy.roundTrips().get(0)).contains("UPDATE idempotency.idempotency_keys");
      assertThat(proxy.roundTrips()).last().asString().contains("COMMIT");
    }
  }

  @Test
  void anAnswerBeforeTheCommitIsSettledAfterIt() throws Exception {
    List<String> seen = new ArrayList<>();
    run(
        () -> {
          Claim claim = CurrentHandler.claim().orElseThrow();
          assertThat(claim.deferSettlement(() -> seen.add("not joined"))).isFalse();
          host.inNew(
              () -> {
                ThingHandlers.insert(host.handle(), user, thing);
                TransactionalCompletion.complete(thing);
                assertThat(
                        claim.deferSettlement(
                            () -> seen.add(table.joined(user) ? "committed" : "open")))
                    .isTrue();
                assertThat(seen).isEmpty();
              });
          assertThat(seen).containsExactly("committed");
          assertThat(claim.deferSettlement(() -> seen.add("late"))).isFalse();
          return thing;
        });

    assertThat(seen).containsExactly("committed");
  }

  @Test
  void anAnswerWithinATransactionThatRecordsNothingWaitsForItsEndToo() throws Exception {
    List<String> seen = new ArrayList<>();
    run(
        inNew(
            () -> {
              Claim claim = CurrentHandler.claim().orElseThrow();
              ThingHandlers.insert(host.handle(), user, thing);
              assertThat(
                      claim.deferSettlement(
                          () -> seen.add(table.thingsOf(user).isEmpty() ? "open" : "committed")))
                  .isTrue();
              assertThat(seen).isEmpty();
            }));

    assertThat(seen).containsExactly("committed");
    assertThat(rerun().replayed()).isTrue();
  }

  @Test
  void anAnswerIsNotRecordedIfTheTransactionInWhichItWasGivenIsRolledBack() {
    AtomicBoolean heard = new AtomicBoolean();
    assertRolledBack(
        inNew(
            () -> {
              Claim claim = CurrentHandler.claim().orElseThrow();
              ThingHandlers.insert(host.handle(), user, thing);
              assertThat(claim.deferSettlement(() -> heard.set(true))).isTrue();
              host.setRollbackOnly();
            }));
    assertThat(heard).isTrue();
  }

  /** Its effect may be there, and nothing in the database can say so. */
  @Test
  void anAnswerInATransactionWithAnUnknownOutcomeKeepsItsKey() {
    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      Claim claim = CurrentHandler.claim().orElseThrow();
                      host.saying(HostTransaction.Completion.UNKNOWN);
                      host.inNew(
                          () -> {
                            ThingHandlers.insert(host.handle(), user, thing);
                            assertThat(claim.deferSettlement(() -> {})).isTrue();
                          });
                      return thing;
                    }));

    assertThatExceptionOfType(WorkRefusedException.class).isThrownBy(this::rerun);
    assertThat(
            table.count(
                "SELECT count(*) FROM idempotency.idempotency_keys"
                    + " WHERE outcome_unknown AND user_uuid = '%s'".formatted(user)))
        .isOne();
  }

  @Test
  void anAnswerWhoseTransactionWasRolledBackIsNotSentAndARetryRuns() throws Exception {
    AtomicBoolean heard = new AtomicBoolean();
    assertRolledBack(
        inNew(
            () -> {
              Claim claim = CurrentHandler.claim().orElseThrow();
              ThingHandlers.insert(host.handle(), user, thing);
              TransactionalCompletion.complete(thing);
              assertThat(claim.deferSettlement(() -> heard.set(true))).isTrue();
              host.setRollbackOnly();
            }));

    assertThat(heard).isTrue();
    assertThat(table.rowsOf(user)).isEmpty();
    assertThat(table.thingsOf(user)).isEmpty();
    assertThat(run(this::completing).replayed()).isFalse();
    assertThat(table.joined(user)).isTrue();
  }

  @Test
  void aHandlerThatFailsWithItsTransactionLeavesTheKeyFree() {
    assertThatThrownBy(
            () ->
                run(
                    inNew(
                        () -> {
                          TransactionalCompletion.complete(thing);
                          throw new IllegalArgumentException("in the handler");
                        })))
        .hasMessageContaining("in the handler");

    assertThat(table.rowsOf(user)).isEmpty();
  }

  @Test
  void aTerminalErrorAfterARollbackIsRecorded() throws Exception {
    Callable<Thing> failing =
        () -> {
          host.inNew(
              () -> {
                TransactionalCompletion.complete(thing);
                host.setRollbackOnly();
              });
          throw new WorkFailedException(Code.FAILED_PRECONDITION, "for good");
        };
    assertThatThrownBy(() -> run(failing)).hasMessageContaining("for good");

    assertThatThrownBy(this::rerun).hasMessageContaining("for good");
  }

  @Test
  void aTransactionThatTheHostRetriesInTheSameCallCompletesAgain() throws Exception {
    run(
        () -> {
          for (boolean fails : List.of(true, false)) {
            host.inNew(
                () -> {
                  ThingHandlers.insert(host.handle(), user, thing);
                  TransactionalCompletion.complete(thing);
                  if (fails) {
                    host.setRollbackOnly();
                  }
                });
          }
          return thing;
        });

    assertThat(table.joined(user)).isTrue();
    assertThat(rerun().replayed()).isTrue();
  }

  @Test
  void ofTwoAnswersOfOneTransactionTheLatestCounts() throws Exception {
    Thing corrected = thing.toBuilder().setName("corrected").build();
    run(
        () -> {
          host.inNew(
              () -> {
                ThingHandlers.insert(host.handle(), user, thing);
                TransactionalCompletion.complete(thing);
                TransactionalCompletion.complete(corrected);
              });
          return corrected;
        });

    assertThat(rerun().value()).isEqualTo(corrected);
  }

  @Test
  void twoTransactionsThatCompleteOneCallAreMisuse() throws Exception {
    run(
        () -> {
          assertThatThrownBy(
                  () ->
                      host.inNew(
                          () -> {
                            TransactionalCompletion.complete(thing);
                            host.inNew(
                                () -> {
                                  ThingHandlers.insert(host.handle(), user, thing);
                                  TransactionalCompletion.complete(thing);
                                });
                          }))
              .hasRootCauseInstanceOf(TransactionMisuseException.class)
              .hasStackTraceContaining("completed in two transactions");
          return thing;
        });

    assertThat(table.joined(user)).isTrue();
  }

  @Test
  void twoCallsThatCompleteInOneTransactionAreBothRecordedByIt() throws Exception {
    try (IdempotentWork inner = runnerOn(store(host), RESERVED)) {
      run(
          inNew(
              () -> {
                ThingHandlers.insert(host.handle(), user, thing);
                TransactionalCompletion.complete(thing);
                Thing unused = completeWithin(inner);
              }));
    }

    for (String token : List.of("token", "inner")) {
      assertThat(rerun(token).replayed()).isTrue();
    }
    assertThat(
            table.count(
                "SELECT count(DISTINCT k.xmin::text) FROM idempotency.idempotency_keys AS k"
                    + " WHERE k.user_uuid = '%s'".formatted(user)))
        .isEqualTo(1);
  }

  private Thing completeWithin(IdempotentWork inner) {
    try {
      return run(
              inner,
              "inner",
              () -> {
                TransactionalCompletion.complete(thing);
                return thing;
              })
          .value();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  @Test
  void aCommitWithoutTheRecordIsReportedAndTheRecordIsWrittenAfterwards() throws Exception {
    host.forgetful();

    assertThatTheLossIsReported();
  }

  private void assertThatTheLossIsReported() throws Exception {
    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(() -> run(this::completing))
        .withMessageContaining("without running the work that was registered before the commit");

    assertThat(table.thingsOf(user)).hasSize(1);
    assertThat(rerun().value()).isEqualTo(thing);
  }

  @Test
  void aHandlerThatFailsAfterACommitWithoutTheRecordIsNotRunAgain() throws Exception {
    host.forgetful();
    assertThatThrownBy(
            () ->
                run(
                    () -> {
                      Thing unused = completing();
                      throw new IllegalArgumentException("after the commit");
                    }))
        .hasMessageContaining("after the commit");

    assertThat(rerun().value()).isEqualTo(thing);
  }

  @Test
  void aSwitchToAutocommitCommitsTheRecordToo() throws Exception {
    run(
        () -> {
          host.step(
              step -> {
                if (step.equals("commit")) {
                  ThreadTransactions.sql(() -> host.required().connection().setAutoCommit(true));
                }
              });
          assertThatThrownBy(this::completing).isInstanceOf(ThreadTransactions.HostException.class);
          return thing;
        });

    assertThat(table.joined(user)).isTrue();
  }

  /** A host that writes with JPA or plain JDBC does not know Jdbi. */
  @Test
  void aFailureOfTheDatabaseReachesTheHostAsAnExceptionOfTheStoreOrTheDriver() throws Exception {
    run(
        () -> {
          assertThatThrownBy(
                  () ->
                      host.inNew(
                          () -> {
                            assertThatThrownBy(() -> host.handle().execute("SELECT 1/0"));
                            assertThatThrownBy(TransactionalCompletion::lock)
                                .isInstanceOf(StoreException.class);
                            TransactionalCompletion.complete(thing);
                          }))
              .isInstanceOf(ThreadTransactions.HostException.class)
              .cause()
              .isInstanceOf(StoreException.class);
          return completing();
        });

    assertThat(rerun().replayed()).isTrue();
  }

  @Test
  void completeAndCommitRefusesATransactionOfTheHost() {
    assertThatThrownBy(
            () ->
                run(
                    () -> {
                      host.inNew(
                          () ->
                              TransactionalCompletion.completeAndCommit(
                                  Jdbi.open(host.required().connection()), thing));
                      return thing;
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("belongs to the host");

    assertThat(table.rowsOf(user)).isEmpty();
  }

  @Test
  void anInnerTransactionThatWasRolledBackLeavesTheRecordToTheOuter() throws Exception {
    run(
        inNew(
            () -> {
              ThingHandlers.insert(host.handle(), user, thing);
              TransactionalCompletion.complete(thing);
              host.inNew(
                  () -> {
                    TransactionalCompletion.complete(thing);
                    host.setRollbackOnly();
                  });
            }));

    assertThat(table.joined(user)).isTrue();
  }

  @Test
  void anotherAnswerThanTheRecordedOneIsMisuse() {
    assertThatExceptionOfType(TransactionMisuseException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      Thing unused = completing();
                      return Thing.getDefaultInstance();
                    }))
        .withMessageContaining("returned another answer");
  }

  @Test
  void anOwnerThatHasLostItsKeyCannotCommit() throws Exception {
    AtomicBoolean lost = new AtomicBoolean();
    assertThatExceptionOfType(WorkRefusedException.class)
        .isThrownBy(
            () ->
                run(
                    () -> {
                      try {
                        host.inNew(
                            () -> {
                              ThingHandlers.insert(host.handle(), user, thing);
                              TransactionalCompletion.complete(thing);
                              table.clear();
                            });
                      } catch (ThreadTransactions.HostException failed) {
                        lost.set(failed.getCause() instanceof ClaimLostException);
                      }
                      return thing;
                    }));

    assertThat(lost).isTrue();
    assertThat(table.thingsOf(user)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTransactionThatKeepsItsSnapshotMustLockFirst(boolean locks) throws Exception {
    host.settings(
        connection -> {
          try {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
          } catch (SQLException failure) {
            throw new IllegalStateException(failure);
          }
        });
    Callable<Thing> work =
        inNew(
            () -> {
              if (locks) {
                TransactionalCompletion.lock();
              }
              ThingHandlers.insert(host.handle(), user, thing);
              TransactionalCompletion.complete(thing);
            });

    if (locks) {
      run(work);
      assertThat(table.joined(user)).isTrue();
    } else {
      assertThatThrownBy(() -> run(work))
          .hasRootCauseInstanceOf(TransactionMisuseException.class)
          .hasStackTraceContaining("TransactionalCompletion.lock");
      assertThat(table.thingsOf(user)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anUnknownOutcomeOfTheHostsCommitIsLookedUp(boolean committed) throws Exception {
    Callable<Thing> work =
        () -> {
          host.saying(HostTransaction.Completion.UNKNOWN);
          if (!committed) {
            host.step(
                step -> {
                  if (step.equals("commit")) {
                    host.handle().execute("ROLLBACK");
                  }
                });
          }
          Thing unused = completing();
          return thing;
        };

    if (committed) {
      assertThat(run(work).replayed()).isFalse();
      assertThat(rerun().replayed()).isTrue();
    } else {
      assertRolledBack(work);
      assertThat(table.rowsOf(user)).isEmpty();
    }
  }

  @Test
  void aCutAtTheCommitIsLookedUpBeforeTheKeyIsReleased() throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThreadTransactions cut = new ThreadTransactions(proxied);
      IdempotentWork cutting = runnerOn(store(cut), RESERVED);
      FaultProxy.Trap trap = proxy.cutAfter("COMMIT");
      assertThatThrownBy(
              () ->
                  run(
                      cutting,
                      "token",
                      () -> {
                        cut.inNew(
                            () -> {
                              ThingHandlers.insert(cut.handle(), user, thing);
                              TransactionalCompletion.complete(thing);
                            });
                        return thing;
                      }))
          .isInstanceOf(ThreadTransactions.HostException.class);
      cutting.close();

      assertThat(trap.hasSprung()).isTrue();
    }
    assertThat(rerun().replayed()).isTrue();
  }

  @Test
  void withoutATransactionThereIsNothingToCompleteWithin() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                run(
                    () -> {
                      TransactionalCompletion.complete(thing);
                      return thing;
                    }))
        .withMessageContaining("no transaction of the host");
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                run(
                    () -> {
                      TransactionalCompletion.lock();
                      return thing;
                    }))
        .withMessageContaining("no transaction of the host");
  }

  @Test
  void withoutHostTransactionsCompletingIsRefused() {
    PostgresIdempotencyStore plain = PostgresIdempotencyStore.builder(database.app()).build();
    try (IdempotentWork other = runnerOn(plain, RESERVED)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> run(other, "token", this::completing))
          .withMessageContaining("built without HostTransactions");
    }
  }

  @Test
  void withoutAKeyNothingIsRecorded() {
    TransactionalCompletion.lock();
    TransactionalCompletion.complete(thing);

    assertThat(table.rowsOf(user)).isEmpty();
  }

  /** Work that returns the thing once it has done something in a transaction of the host's. */
  private Callable<Thing> inNew(Runnable work) {
    return () -> {
      host.inNew(work);
      return thing;
    };
  }

  private Thing completing() {
    host.inNew(
        () -> {
          ThingHandlers.insert(host.handle(), user, thing);
          TransactionalCompletion.complete(thing);
        });
    return thing;
  }

  private WorkResult<Thing> run(Callable<Thing> work) throws Exception {
    return run("token", work);
  }

  private WorkResult<Thing> run(IdempotentWork any, String token, Callable<Thing> work)
      throws Exception {
    return any.run(RESERVED, caller, token, ThingWork.request(), Thing.parser(), work);
  }

  private WorkResult<Thing> run(String token, Callable<Thing> work) throws Exception {
    return run(runner, token, work);
  }

  private WorkResult<Thing> rerun() throws Exception {
    return rerun("token");
  }

  private WorkResult<Thing> rerun(String token) throws Exception {
    return run(
        token,
        () -> {
          throw new AssertionError("it runs a second time");
        });
  }

  private void assertRolledBack(Callable<Thing> work) {
    assertThatExceptionOfType(WorkFailedException.class)
        .isThrownBy(() -> run(work))
        .withMessageContaining("rolled back");
  }
}
