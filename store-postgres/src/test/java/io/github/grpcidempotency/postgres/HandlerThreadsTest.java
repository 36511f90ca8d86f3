package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.MoreExecutors;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers that use other threads than the one that runs them. */
class HandlerThreadsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final String SLEEPERS =
      "SELECT count(*) FROM pg_stat_activity"
          + " WHERE wait_event = 'PgSleep' AND datname = current_database()";

  private final KeyTable table = new KeyTable(database);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void stopThreads() {
    assertThat(MoreExecutors.shutdownAndAwaitTermination(threads, Duration.ofSeconds(20))).isTrue();
    database.awaitAllConnectionsBack();
  }

  /** Where a handler's statements run. */
  private enum Where {
    HANDLERS_THREAD,
    ANOTHER_THREAD
  }

  @ParameterizedTest
  @EnumSource
  void aDuplicateOfACallThatIsClaimedAtItsCommitGetsTheFirstAnswerWhereverItsStatementsRun(
      Where where) {
    try (ThingServer server =
            PostgresThingServer.on(database.app())
                .createThing(thing -> thing.claimAtCommit())
                .transactional((request, call) -> writer(request, call).run())
                .start();
        ThingClient client = ThingClient.to(server.port())) {
      Reply first = client.createThing(Things.named("a thing"));
      if (where == Where.ANOTHER_THREAD) {
        server.things().handle((request, call) -> threads.execute(writer(request, call)));
      }

      Reply second = client.within(Duration.ofSeconds(20)).createThing(Things.named("a thing"));

      assertThat(first.isOk()).as(first.toString()).isTrue();
      assertThat(second.isReplay()).as(second.toString()).isTrue();
      assertThat(second.bytes()).isEqualTo(first.bytes());
      assertThat(server.runs()).isEqualTo(2);
      assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
    }
  }

  private static Runnable writer(CreateThingRequest request, StreamObserver<Thing> call) {
    return Context.current()
        .wrap(
            () -> {
              Thing thing = ThingHandler.newThing(request);
              try (PreparedStatement insert =
                  ClaimTransaction.connection()
                      .prepareStatement(
                          "SELECT set_config('app.current_user_id', ?, true);"
                              + " INSERT INTO app.things (id, name) VALUES (?, ?)")) {
                insert.setString(1, ThingServer.caller().userId().toString());
                insert.setObject(2, UUID.fromString(thing.getId()));
                insert.setString(3, thing.getName());
                boolean unused = insert.execute();
              } catch (SQLException failure) {
                call.onError(
                    Status.FAILED_PRECONDITION.withDescription(failure.getMessage()).asException());
                return;
              }
              ThingHandler.answer(call, thing);
            });
  }

  @Test
  void anErrorStopsTheStatementOfAnotherThreadAndItsConnectionIsReplaced() {
    CompletableFuture<Throwable> stopped = new CompletableFuture<>();
    ThingHandler asynchronous =
        (request, call) -> {
          Context handlers = Context.current();
          threads.execute(() -> handlers.run(() -> stopped.complete(failureOfSleep())));
          await().until(() -> table.count(SLEEPERS) == 1);
          call.onError(Status.ABORTED.asException());
        };
    try (HikariDataSource pool = database.newPoolThatChecksUsers(1);
        ThingServer server = PostgresThingServer.on(pool).transactional(asynchronous).start();
        ThingClient client = ThingClient.to(server.port())) {
      int before = backend(pool);

      assertThat(client.createThing(Things.named("a thing")).status().getCode())
          .isEqualTo(Status.Code.ABORTED);

      assertThat(stopped.join()).isInstanceOf(JdbiException.class);
      await().until(() -> table.count(SLEEPERS) == 0);
      assertThat(backend(pool)).isNotEqualTo(before);
      server.things().handle((request, call) -> writer(request, call).run());
      assertThat(client.createThing(Things.named("a thing")).isOk()).isTrue();
    }
  }

  private static Throwable failureOfSleep() {
    return catchThrowable(() -> ClaimJdbi.handle().execute("SELECT pg_sleep(600)"));
  }

  private static int backend(DataSource pool) {
    return Jdbi.create(pool)
        .withHandle(
            handle -> handle.createQuery("SELECT pg_backend_pid()").mapTo(Integer.class).one());
  }
}
