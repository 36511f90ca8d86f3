package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.Uninterruptibles;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.testing.CheckedPool;
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
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers that use other threads than the one that runs them. */
class HandlerThreadsTest {
  @RegisterExtension static final TestDatabase database = TestDatabase.create();

  private static final int KEYS = 30;
  private static final String SLEEPERS =
      "SELECT count(*) FROM pg_stat_activity"
          + " WHERE wait_event = 'PgSleep' AND datname = current_database()";

  private final KeyTable table = new KeyTable(database);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);

  @BeforeEach
  void addTableOfOthers() {
    database.execute(
        """
        DROP TABLE IF EXISTS app.bystanders;
        CREATE TABLE app.bystanders (id bigint GENERATED ALWAYS AS IDENTITY);
        GRANT SELECT, INSERT ON app.bystanders TO things_app;
        """);
  }

  @AfterEach
  void stopThreads() {
    assertThat(MoreExecutors.shutdownAndAwaitTermination(timer, Duration.ofSeconds(20))).isTrue();
    assertThat(MoreExecutors.shutdownAndAwaitTermination(threads, Duration.ofSeconds(20))).isTrue();
    database.awaitAllConnectionsBack();
  }

  /** Where a handler's statements run. */
  private enum Where {
    HANDLERS_THREAD,
    ANOTHER_THREAD
  }

  /**
   * The handler answers an error at a time limit while its statement may still run, and clients go
   * away early. Meanwhile other code uses the pool in autocommit.
   */
  @ParameterizedTest
  @EnumSource
  void aKeyHasOneEffectAndThePoolIsSafeWhateverEndsAHandlerBeforeItsStatement(ClaimTiming timing) {
    CheckedPool pool = database.newPoolThatChecksUsers(4);
    AtomicBoolean busy = new AtomicBoolean(true);
    try (ThingServer server = server(pool, timing, this::writeUntilLimit);
        ThingClient client = ThingClient.to(server.port())) {
      CompletableFuture<Integer> bystander =
          CompletableFuture.supplyAsync(() -> useInAutocommit(pool, busy), threads);
      List<ThingClient> callers =
          Stream.generate(() -> client.as(UUID.randomUUID())).limit(KEYS).toList();

      List<CompletableFuture<Void>> calls =
          callers.stream()
              .map(caller -> CompletableFuture.runAsync(() -> callUntilOk(caller), threads))
              .toList();
      calls.forEach(CompletableFuture::join);
      busy.set(false);

      assertThat(callers).allMatch(caller -> table.thingsOf(caller.user()).size() == 1);
      assertThat(table.count("SELECT count(*) FROM app.bystanders")).isEqualTo(bystander.join());
    }
    database.awaitAllConnectionsBack();
    pool.check();
  }

  @ParameterizedTest
  @EnumSource
  void aDuplicateWhoseHandlerAnswersAnErrorForEverySqlExceptionGetsTheFirstAnswer(Where where) {
    try (ThingServer server =
            server(
                database.app(),
                ClaimTiming.WITH_FIRST_STATEMENT,
                (request, call) -> writer(request, call).run());
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
                      .prepareStatement("INSERT INTO app.things (id, name) VALUES (?, ?)")) {
                insert.setObject(1, UUID.fromString(thing.getId()));
                insert.setString(2, thing.getName());
                int unused = insert.executeUpdate();
              } catch (SQLException failure) {
                call.onError(
                    Status.FAILED_PRECONDITION.withDescription(failure.getMessage()).asException());
                return;
              }
              ThingHandler.answer(call, thing);
            });
  }

  @Test
  void anErrorStopsTheStatementOfAnotherThreadAndTheConnectionServesTheNextCall() {
    CompletableFuture<Throwable> stopped = new CompletableFuture<>();
    ThingHandler asynchronous =
        (request, call) -> {
          Context handlers = Context.current();
          threads.execute(() -> handlers.run(() -> stopped.complete(failureOfSleep())));
          await().until(() -> table.count(SLEEPERS) == 1);
          call.onError(Status.ABORTED.asException());
        };
    try (HikariDataSource pool = database.newPoolThatChecksUsers(1);
        ThingServer server = server(pool, ClaimTiming.BEFORE_HANDLER, asynchronous);
        ThingClient client = ThingClient.to(server.port())) {
      int before = backend(pool);

      assertThat(client.createThing(Things.named("a thing")).status().getCode())
          .isEqualTo(Status.Code.ABORTED);

      assertThat(stopped.join()).hasMessageContaining("canceling statement");
      assertThat(backend(pool)).isEqualTo(before);
      server.things().handle((request, call) -> writer(request, call).run());
      assertThat(client.createThing(Things.named("a thing")).isOk()).isTrue();
    }
  }

  private static Throwable failureOfSleep() {
    return catchThrowable(() -> ClaimTransaction.handle().execute("SELECT pg_sleep(600)"));
  }

  private static int backend(DataSource pool) {
    return Jdbi.create(pool)
        .withHandle(
            handle -> handle.createQuery("SELECT pg_backend_pid()").mapTo(Integer.class).one());
  }

  private static void callUntilOk(ThingClient caller) {
    CreateThingRequest request = Things.named("a thing");
    Status status;
    do {
      boolean hasty = ThreadLocalRandom.current().nextInt(3) == 0;
      Duration time = hasty ? millis(15) : Duration.ofSeconds(20);
      status = caller.within(time).createThing(request).status();
    } while (!status.isOk());
  }

  private void writeUntilLimit(CreateThingRequest request, StreamObserver<Thing> call) {
    AtomicBoolean answered = new AtomicBoolean();
    var unused =
        timer.schedule(
            () -> {
              if (!answered.getAndSet(true)) {
                call.onError(Status.ABORTED.withDescription("took too long").asException());
              }
            },
            ThreadLocalRandom.current().nextInt(25_000),
            TimeUnit.MICROSECONDS);
    Runnable work = Context.current().wrap(() -> write(request, call, answered));
    if (ThreadLocalRandom.current().nextBoolean()) {
      work.run();
    } else {
      threads.execute(work);
    }
  }

  private static void write(
      CreateThingRequest request, StreamObserver<Thing> call, AtomicBoolean answered) {
    Thing thing = ThingHandler.newThing(request);
    try {
      ClaimTransaction.handle()
          .createUpdate(
              "INSERT INTO app.things (id, name) SELECT CAST(? AS uuid), ? FROM pg_sleep(?)")
          .bind(0, thing.getId())
          .bind(1, thing.getName())
          .bind(2, ThreadLocalRandom.current().nextDouble(0.012))
          .execute();
    } catch (ClaimPreemptedException stopped) {
      throw stopped;
    } catch (RuntimeException failed) {
      if (!answered.getAndSet(true)) {
        call.onError(Status.ABORTED.withCause(failed).asException());
      }
      return;
    }
    if (!answered.getAndSet(true)) {
      ThingHandler.answer(call, thing);
    }
  }

  /** Returns how many rows were added, each of which must stay. */
  private static int useInAutocommit(CheckedPool pool, AtomicBoolean busy) {
    Jdbi jdbi = Jdbi.create(pool);
    int added = 0;
    while (busy.get()) {
      int foreign =
          jdbi.withHandle(
              handle -> {
                handle.execute("INSERT INTO app.bystanders DEFAULT VALUES");
                return handle
                    .createQuery("SELECT count(*) FROM app.things")
                    .mapTo(Integer.class)
                    .one();
              });
      added++;
      assertThat(foreign).as("rows that are seen without a user").isZero();
      Uninterruptibles.sleepUninterruptibly(millis(2));
    }
    return added;
  }

  private static Duration millis(int most) {
    return Duration.ofMillis(ThreadLocalRandom.current().nextInt(most));
  }

  private static ThingServer server(DataSource pool, ClaimTiming timing, ThingHandler handler) {
    return PostgresThingServer.on(pool)
        .createThing(thing -> thing.claim(timing))
        .transactional(handler)
        .start();
  }
}
