package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.postgres.ThingHandlers.insert;
import static io.github.grpcidempotency.thing.ThingHandler.answer;
import static io.github.grpcidempotency.thing.ThingHandler.newThing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.core.BaseConnection;

/** How handlers misuse their claim's transaction, and the exceptions that they get. */
class TransactionMisuseTest {
  @RegisterExtension
  static final TestDatabase database = TestDatabase.create().awaitingConnections();

  private static final CreateThingRequest REQUEST = Things.named("a thing");

  private static final ThingServer server =
      database.closing(PostgresThingServer.on(database.app()).transactional().start());

  private final KeyTable table = new KeyTable(database);
  private final ThingClient client = ThingClient.on(server.channel());

  /** Does something that only the interceptor may. */
  interface Misuse {
    void of(Handle handle, Connection connection) throws SQLException;
  }

  static Stream<Named<Misuse>> endings() {
    return Stream.of(
        Named.of("commit", (handle, connection) -> connection.commit()),
        Named.of("roll back", (handle, connection) -> connection.rollback()),
        Named.of("autocommit", (handle, connection) -> connection.setAutoCommit(true)),
        Named.of("abort", (handle, connection) -> connection.abort(Runnable::run)),
        Named.of(
            "commit the driver's connection",
            (handle, connection) -> connection.unwrap(BaseConnection.class).commit()),
        Named.of(
            "commit by the driver's method",
            (handle, connection) ->
                connection.unwrap(BaseConnection.class).execSQLUpdate("COMMIT")),
        Named.of("commit the handle", (handle, connection) -> handle.commit()),
        Named.of("roll the handle back", (handle, connection) -> handle.rollback()));
  }

  @ParameterizedTest
  @MethodSource("endings")
  void aHandlerThatEndsTheTransactionGetsAnException(Misuse ending) {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler ends =
        (request, answer) -> {
          insert(ClaimJdbi.handle(), newThing(request));
          try {
            ending.of(ClaimJdbi.handle(), ClaimTransaction.connection());
          } catch (SQLException | RuntimeException thrown) {
            told.complete(thrown);
            throw new IllegalStateException(thrown);
          }
        };
    server.things().handle(ends);
    Reply reply = client.createThing(REQUEST);

    assertThat(told.join())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("the interceptor ends this transaction, not the handler");
    assertThat(reply.status().getCode()).isEqualTo(Status.Code.UNKNOWN);
    assertThat(table.rowsOf(client.user())).isEmpty();
    assertThat(table.thingsOf(client.user())).isEmpty();
  }

  @Test
  void aHandlerMayCloseWhatItGotAndTheTransactionStaysOpen() {
    ThingHandler closes =
        ThingHandler.creating(
            thing -> {
              try (Connection connection = ClaimTransaction.connection();
                  Handle handle = ClaimJdbi.handle()) {
                assertThat(connection.isClosed()).isFalse();
                assertThat(handle.isClosed()).isFalse();
              } catch (SQLException failure) {
                throw new IllegalStateException(failure);
              }
              insert(ClaimJdbi.handle(), thing);
            });
    server.things().handle(closes);
    Reply first = client.createThing(REQUEST);

    assertThat(first.isOk()).isTrue();
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();
    assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
  }

  static Stream<Named<Misuse>> endingStatements() {
    return Stream.of(
        Named.of("a statement", (handle, connection) -> handle.execute("COMMIT")),
        Named.of("several", (handle, connection) -> handle.execute("SELECT 1; -- now\n commit")),
        Named.of(
            "a plain statement",
            (handle, connection) -> {
              try (Statement statement = connection.createStatement()) {
                boolean unused = statement.execute("ROLLBACK AND CHAIN");
              }
            }),
        Named.of(
            "a batch",
            (handle, connection) -> {
              try (Statement statement = connection.createStatement()) {
                statement.addBatch("/* at /* the */ end */ END");
              }
            }),
        Named.of(
            "the statement's connection",
            (handle, connection) -> {
              try (Statement statement = connection.createStatement()) {
                statement.getConnection().commit();
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("endingStatements")
  void aStatementThatWouldEndTheTransactionIsNotSent(Misuse ending) {
    CompletableFuture<Throwable> told = new CompletableFuture<>();
    ThingHandler ends =
        ThingHandler.creating(
            thing -> {
              insert(ClaimJdbi.handle(), thing);
              try {
                ending.of(ClaimJdbi.handle(), ClaimTransaction.connection());
              } catch (SQLException | RuntimeException thrown) {
                told.complete(Throwables.getRootCause(thrown));
              }
            });
    server.things().handle(ends);
    Reply reply = client.createThing(REQUEST);

    assertThat(told)
        .isCompletedWithValueMatching(
            thrown ->
                thrown instanceof IllegalStateException
                    && thrown.toString().contains("the interceptor ends this transaction"));
    assertThat(reply.isOk()).as(reply.toString()).isTrue();
    assertThat(table.joined(client.user())).as("nothing has ended it").isTrue();
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();
  }

  @Test
  void anAnswerWhoseResourceWasRolledBackDespiteTheGuardIsNotRecorded() {
    ThingHandler ends =
        ThingHandler.creating(
            thing -> {
              insert(ClaimJdbi.handle(), thing);
              endBehindTheGuardsBack(Connection::rollback);
            });
    server.things().handle(ends);
    assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(table.rowsOf(client.user())).isEmpty();
    assertThat(table.thingsOf(client.user())).isEmpty();
  }

  @Test
  void aStatementAfterTheEndOfTheTransactionFailsTheCall() {
    ThingHandler ends =
        (request, answer) -> {
          endBehindTheGuardsBack(Connection::commit);
          ClaimJdbi.handle().execute("SELECT 'something else'");
          answer(answer, newThing(request));
        };
    failsTheCall(ends);
  }

  /** Ends a transaction as the guard does not see it. */
  interface Ending {
    void of(Connection connection) throws SQLException;
  }

  private static void endBehindTheGuardsBack(Ending ending) {
    try {
      ending.of(((HandlerTransaction) CurrentHandler.requireTransaction()).unguarded());
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  @Test
  void aHandlerThatWorksForAnotherUserInTheEndFailsTheCall() {
    ThingHandler changesUser =
        (request, answer) -> {
          ClaimJdbi.handle()
              .execute("SELECT set_config('app.current_user_id', gen_random_uuid()::text, true)");
          answer(answer, newThing(request));
        };
    failsTheCall(changesUser);
  }

  /** The database works, so this is no outage. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SET LOCAL ROLE reporter",
        "SET TRANSACTION READ ONLY",
        "SET LOCAL row_security = off"
      })
  void aHandlerThatMayNotWriteTheRecordInTheEndFailsTheCall(String change) {
    database.execute(
        "DO $$ BEGIN CREATE ROLE reporter; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
            + " GRANT reporter TO things_app");
    failsTheCall(
        (request, answer) -> {
          ClaimJdbi.handle().execute(change);
          answer(answer, newThing(request));
        },
        "the record of the answer may not be written in the handler's transaction");
  }

  private void failsTheCall(ThingHandler handler) {
    failsTheCall(handler, "the handler has ended its transaction");
  }

  private void failsTheCall(ThingHandler handler, String problem) {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .withoutResource()
                .transactional(handler)
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply reply = client.createThing(REQUEST);

      assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
      assertThat(reply.description()).contains(problem);
      assertThat(table.rowsOf(client.user())).isEmpty();
    }
  }

  @Test
  void aStatementThatEndsTheTransactionOfACallWithoutAKeyFailsItAsWell() {
    ThingHandler ends =
        (request, answer) -> {
          endBehindTheGuardsBack(Connection::commit);
          answer(answer, newThing(request));
        };
    server.things().handle(ends);
    Reply reply = client.withoutKey().createThing(REQUEST);

    assertThat(reply.status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(reply.description()).contains("the handler has ended its transaction");
  }

  @Test
  void aHandleThatAHandlerKeepsCannotBeUsedOnceTheCallHasEnded() {
    CompletableFuture<Handle> handle = new CompletableFuture<>();
    CompletableFuture<Connection> connection = new CompletableFuture<>();
    CompletableFuture<PreparedStatement> statement = new CompletableFuture<>();
    ThingHandler keeping =
        (request, answer) -> {
          handle.complete(ClaimJdbi.handle());
          connection.complete(ClaimTransaction.connection());
          try {
            statement.complete(
                ClaimTransaction.connection().prepareStatement("DELETE FROM app.things"));
          } catch (SQLException failure) {
            throw new IllegalStateException(failure);
          }
          ThingHandlers.transactional().create(request, answer);
        };
    server.things().handle(keeping);
    for (ThingClient kind : List.of(client, client.withoutKey())) {
      assertThat(kind.createThing(REQUEST).isOk()).isTrue();

      for (ThrowingCallable use :
          List.<ThrowingCallable>of(
              () -> handle.join().execute("DELETE FROM app.things"),
              () -> connection.join().createStatement(),
              () -> statement.join().execute(),
              () -> statement.join().addBatch(),
              () -> connection.join().getMetaData())) {
        assertThatThrownBy(use)
            .extracting(Throwables::getRootCause)
            .isInstanceOf(SQLException.class)
            .asString()
            .contains("the transaction of this call has ended");
      }
      assertThat(closed(connection.join())).isTrue();
    }
    assertThat(table.thingsOf(client.user())).hasSize(2);
  }

  @Test
  void theExceptionNamesTheReasonWhyTheCallHasNoTransaction() {
    ThingHandler asking =
        (request, answer) -> {
          try {
            ClaimJdbi.handle();
          } catch (IllegalStateException told) {
            answer.onError(Status.INTERNAL.withDescription(told.getMessage()).asRuntimeException());
          }
        };
    try (ThingServer reserved = PostgresThingServer.on(database.app()).handler(asking).start();
        ThingClient client = ThingClient.to(reserved.port())) {
      assertThat(client.createThing(REQUEST).description())
          .contains("ThingService/CreateThing is not TRANSACTIONAL: set")
          .contains(".execution(Execution.TRANSACTIONAL)");
    }
  }

  @Test
  void aTransactionalHandlerThatCompletesGetsAnException() {
    ThingHandler completing =
        (request, answer) -> {
          try {
            Joining.completeAndCommit(ClaimJdbi.handle(), newThing(request));
          } catch (IllegalStateException told) {
            answer.onError(Status.INTERNAL.withDescription(told.getMessage()).asRuntimeException());
          }
        };
    server.things().handle(completing);
    assertThat(client.createThing(REQUEST).description())
        .contains("is transactional, so the interceptor records its response");
  }

  private static boolean closed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
