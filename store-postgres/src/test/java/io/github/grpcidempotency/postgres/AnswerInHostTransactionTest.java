package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.rpc.Code;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.sql.Connection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Reserved handlers that answer while a transaction of the host is open on their thread. */
@SuppressWarnings("NullAway") // it does not know the method that starts what is static
class AnswerInHostTransactionTest {
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
    runner =
        IdempotentWork.builder(
                PostgresIdempotencyStore.builder(database.app())
                    .lease(Duration.ofMinutes(5))
                    .hostTransactions(host)
                    .build(),
                RESERVED)
            .build();
  }

  @AfterAll
  static void stop() {
    runner.close();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    host.behave();
    database.awaitAllConnectionsBack();
    assertThat(host.isActive()).isFalse();
  }

  @Test
  void anAnswerInAnOpenTransactionIsNotRecordedAndTheTransactionIsRolledBack() {
    assertThat(
            host.inNew(
                () ->
                    assertThatExceptionOfType(TransactionMisuseException.class)
                        .isThrownBy(() -> run(this::inserting))
                        .withMessageContaining("make the procedure transactional")))
        .isEqualTo(HostTransaction.Completion.ROLLED_BACK);

    assertThat(table.thingsOf(user)).isEmpty();
    assertThatExceptionOfType(WorkRefusedException.class).isThrownBy(() -> run(this::unexpected));
    table.endLeases(user);
    assertThat(runAfterCommit().replayed()).isFalse();
  }

  @Test
  void anErrorInAnOpenTransactionFreesTheKeyAndTheTransactionIsRolledBack() {
    assertThat(host.inNew(this::failAfterInserting))
        .isEqualTo(HostTransaction.Completion.ROLLED_BACK);

    assertThat(table.thingsOf(user)).isEmpty();
    assertThat(runAfterCommit().replayed()).isFalse();
  }

  /** Its host commits what the handler has written. */
  @Test
  void anErrorInATransactionThatCannotBeRolledBackKeepsTheKey() {
    host.step(
        moment -> {
          if (moment.equals("mark")) {
            throw new NoClassDefFoundError("on purpose");
          }
        });
    host.inNew(this::failAfterInserting);

    assertThat(table.thingsOf(user)).hasSize(1);
    assertThatExceptionOfType(WorkRefusedException.class).isThrownBy(() -> run(this::unexpected));
  }

  @Test
  void aTerminalErrorInAnOpenTransactionIsRecorded() {
    host.inNew(
        () ->
            assertThatThrownBy(
                    () ->
                        run(
                            () -> {
                              throw new WorkFailedException(Code.FAILED_PRECONDITION, "for good");
                            }))
                .hasMessageContaining("for good"));

    assertThatThrownBy(() -> run(this::unexpected)).hasMessageContaining("for good");
  }

  @Test
  void aTransactionOfTheHostCannotBeCompletedByTheHandler() {
    assertThatThrownBy(
            () ->
                run(
                    () -> {
                      host.inNew(
                          () -> {
                            Connection connection = host.required().connection();
                            ThreadTransactions.sql(
                                () -> TransactionalCompletion.completeAndCommit(connection, thing));
                          });
                      return thing;
                    }))
        .hasMessageContaining("a transaction of the host is open on this thread");
  }

  private WorkResult<Thing> runAfterCommit() {
    try {
      WorkResult<Thing> first =
          run(
              () -> {
                host.inNew(this::inserting);
                return thing;
              });
      assertThat(run(this::unexpected).replayed()).isTrue();
      return first;
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }

  private void failAfterInserting() {
    assertThatThrownBy(
            () ->
                run(
                    () -> {
                      Thing unused = inserting();
                      throw new IllegalArgumentException("in the handler");
                    }))
        .hasMessage("in the handler");
  }

  private Thing inserting() {
    ThingHandlers.insert(host.handle(), user, thing);
    return thing;
  }

  private Thing unexpected() {
    throw new AssertionError("it runs a second time");
  }

  private WorkResult<Thing> run(Callable<Thing> work) throws Exception {
    return runner.run(RESERVED, caller, "token", ThingWork.request(), Thing.parser(), work);
  }
}
