package io.github.grpcidempotency.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingClient;
import io.github.grpcidempotency.thing.ThingClient.Reply;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same event in each execution. The README's table of guarantees links to these tests. */
class ExecutionsTest {
  private static final CreateThingRequest REQUEST = Things.named("a thing");

  /** Outlasts any test: a test that needs the end of a lease ends it itself. */
  private static final Duration LEASE = Duration.ofMinutes(5);

  /** How long a handler may run that hangs, and its lease. */
  private static final Duration SHORT = Duration.ofSeconds(3);

  private static KillablePostgres postgres;
  private static TestDatabase database;

  private KeyTable table;
  private final List<AutoCloseable> open = new ArrayList<>();
  private final CountDownLatch written = new CountDownLatch(1);
  private final CountDownLatch mayAnswer = new CountDownLatch(1);

  /** A column of the table. */
  private enum Way {
    TRANSACTIONAL,
    AT_COMMIT,
    RESERVED,
    JOINED
  }

  /** Forgets what a handler answers. */
  private static final class Unanswered implements StreamObserver<Thing> {
    @Override
    public void onNext(Thing thing) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }

  /** How a handler fails. */
  private enum Failure {
    THROWS(Status.Code.UNKNOWN),
    ANSWERS(Status.Code.NOT_FOUND);

    private final Status.Code code;

    Failure(Status.Code code) {
      this.code = code;
    }
  }

  @BeforeAll
  static void start(@TempDir Path data) {
    postgres = KillablePostgres.in(data);
    database = TestDatabase.in(postgres.server());
  }

  @AfterAll
  static void stop() {
    database.close();
    postgres.close();
  }

  @BeforeEach
  void read() {
    table = new KeyTable(database);
  }

  @AfterEach
  void close() throws Exception {
    mayAnswer.countDown();
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  /** Serves a handler that writes, and waits until its process is killed. */
  @SuppressWarnings("SystemOut") // the test that started this process reads it
  public static void main(String[] arguments) throws InterruptedException {
    HikariDataSource pool = PostgresThingServer.pool(arguments[0], Duration.ofSeconds(10));
    Runnable waits =
        () -> {
          System.out.println("written");
          Uninterruptibles.awaitUninterruptibly(new CountDownLatch(1));
        };
    ThingServer server = settings(Way.valueOf(arguments[1]), pool, waits).start();
    System.out.println("port " + server.port());
    server.server().awaitTermination();
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT", "JOINED"})
  void theEffectAndTheRecordOfACallAreOneCommit(Way way) {
    ThingClient client = clientOf(start(settings(way, pool(), () -> {})));

    assertThat(client.createThing(REQUEST).isOk()).isTrue();

    assertThat(table.joined(client.user())).isTrue();
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();
  }

  @Test
  void theRecordOfAReservedCallIsACommitOfItsOwnBeforeItsAnswerIsSent() {
    UUID user = UUID.randomUUID();
    CompletableFuture<CompletableFuture<Reply>> started = new CompletableFuture<>();
    CompletableFuture<List<Boolean>> seen = new CompletableFuture<>();
    ThingServer server =
        start(
            settings(Way.RESERVED, pool(), this::pause)
                .listener(
                    event -> {
                      if (event.kind() == Kind.SETTLED) {
                        seen.complete(List.of(isRecorded(user), started.join().isDone()));
                      }
                    }));
    ThingClient client = clientOf(server).as(user);

    CompletableFuture<Reply> call = running(client);
    started.complete(call);
    assertThat(isRecorded(user)).isFalse();
    mayAnswer.countDown();

    assertThat(seen.join()).as("recorded, answered").containsExactly(true, false);
    assertThat(call.join().isOk()).isTrue();
    assertThat(table.joined(user)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void afterTheDeathOfItsServerNothingOfATransactionalCallRemainsAndItsKeyIsFree(Way way) {
    ThingClient client = clientOfKilledServer(way);

    Reply retried = Things.untilAnswered(client, REQUEST);

    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void afterTheDeathOfItsServerAReservedHandlerRunsAgainOnceTheLeaseHasEnded() {
    ThingClient client = clientOfKilledServer(Way.RESERVED);
    assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);

    table.endLeases(client.user());
    Reply retried = client.createThing(REQUEST);

    assertThat(retried.isOk()).isTrue();
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).as("a second effect").hasSize(2);
  }

  @Test
  void afterTheDeathOfItsServerAnAnswerThatWasCommittedWithItsEffectIsReplayed() {
    ThingClient client = clientOfKilledServer(Way.JOINED);

    Reply retried = client.createThing(REQUEST);

    assertThat(retried.isReplay()).isTrue();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void afterACrashOfTheDatabaseNothingOfARunningTransactionalCallRemains(Way way) {
    ThingServer server = start(way);
    ThingClient client = clientOf(server);
    CompletableFuture<Reply> running = running(client);

    postgres.kill();
    mayAnswer.countDown();
    assertThat(running.join().isOk()).isFalse();
    restart();

    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void afterACrashOfTheDatabaseTheAnswerOfAReservedHandlerIsRecorded() {
    ThingServer server = start(settings(Way.RESERVED, impatientPool(), this::pause));
    ThingClient client = clientOf(server);
    CompletableFuture<Reply> running = running(client);

    postgres.kill();
    mayAnswer.countDown();
    assertThat(running.join().reason()).isEqualTo(Things.IN_PROGRESS);
    restart();

    assertThat(Things.untilAnswered(client, REQUEST).isReplay()).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void anAnswerThatCannotBeRecordedWithinItsLeaseIsLostToARetry() {
    try (FaultProxy proxy = FaultProxy.before(database.appUrl());
        HikariDataSource proxied = PostgresThingServer.pool(proxy.jdbcUrl())) {
      ThingServer server = start(settings(Way.RESERVED, proxied, this::pause));
      ThingClient client = clientOf(server);
      CompletableFuture<Reply> running = running(client);

      proxy.refuse();
      mayAnswer.countDown();
      assertThat(running.join().reason()).isEqualTo(Things.IN_PROGRESS);
      table.endLeases(client.user());
      Reply retried = onAnotherServer(Way.RESERVED, client).createThing(REQUEST);

      assertThat(retried.isOk()).isTrue();
      assertThat(retried.isReplay()).isFalse();
      assertThat(table.thingsOf(client.user())).as("a second effect").hasSize(2);
      server.close();
    }
  }

  @Test
  void afterACrashOfTheDatabaseAJoinedHandlerHasCommittedBothOrNeither() {
    ThingServer server = start(settings(Way.JOINED, impatientPool(), this::pause));
    ThingClient client = clientOf(server);
    CompletableFuture<Reply> committed = running(client);
    ThingClient early = client.withNewKey();
    server
        .things()
        .handle(
            (request, answer) -> {
              postgres.kill();
              handler(Way.JOINED, impatientPool(), () -> {}).create(request, answer);
            });
    assertThat(early.createThing(REQUEST).isOk()).isFalse();
    mayAnswer.countDown();
    Reply answered = committed.join();
    restart();
    server.things().handle(handler(Way.JOINED, pool(), () -> {}));

    assertThat(answered.isOk()).isTrue();
    assertThat(Things.untilAnswered(client, REQUEST).bytes()).isEqualTo(answered.bytes());
    Reply retried = Things.untilAnswered(early, REQUEST);
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user()))
        .containsExactlyInAnyOrder(answered.thingId(), retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void anErrorRollsATransactionalCallBackAndFreesItsKey(Way way) {
    for (Failure failure : Failure.values()) {
      ThingServer server = failing(way, failure);
      ThingClient client = clientOf(server);

      assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(failure.code);
      assertThat(table.thingsOf(client.user())).isEmpty();
      server.things().handle(handler(way, pool(), () -> {}));

      assertThat(client.createThing(REQUEST).isOk()).isTrue();
      assertThat(table.thingsOf(client.user())).hasSize(1);
    }
  }

  @Test
  void anErrorOfAReservedHandlerAfterItsEffectFreesTheKeyAndARetryRepeatsTheEffect() {
    for (Failure failure : Failure.values()) {
      ThingServer server = failing(Way.RESERVED, failure);
      ThingClient client = clientOf(server);

      assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(failure.code);
      server.things().handle(handler(Way.RESERVED, pool(), () -> {}));

      assertThat(client.createThing(REQUEST).isOk()).isTrue();
      assertThat(table.thingsOf(client.user())).hasSize(2);
    }
  }

  @Test
  void anErrorOfAHandlerAfterItHasCompletedLeavesItsRecord() {
    for (Failure failure : Failure.values()) {
      ThingClient client = clientOf(failing(Way.JOINED, failure));

      assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(failure.code);
      Reply retried = client.createThing(REQUEST);

      assertThat(retried.isReplay()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHandlerGoesOnAfterItsClientHasGoneAndItsAnswerIsReplayed(Way way) {
    ThingServer server = start(way);
    ThingClient cancelling = clientOf(server);
    ThingClient impatient = cancelling.withNewKey().as(UUID.randomUUID());
    CompletableFuture<Reply> cancelled = cancelling.startThing(REQUEST);
    CompletableFuture<Reply> late = impatient.within(Duration.ofSeconds(3)).startThing(REQUEST);
    await().until(() -> server.runs() == 2);
    cancelled.cancel(true);
    assertThat(late.join().status().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    mayAnswer.countDown();

    for (ThingClient client : List.of(cancelling, impatient)) {
      Reply retried = Things.untilAnswered(client, REQUEST);

      assertThat(retried.isReplay()).isTrue();
      assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void aTransactionalHandlerThatIsGivenUpIsRolledBackAndARetryRuns(Way way) {
    ThingClient client = clientOf(hanging(way));

    assertThat(client.createThing(REQUEST).status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(table.thingsOf(client.user())).isEmpty();
    Reply retried = Things.untilAnswered(onAnotherServer(way, client), REQUEST);
    mayAnswer.countDown();

    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource
  void aHandlerThatReturnsWithoutAnAnswerIsGivenUpOnceItsClientHasGone(Way way) {
    ThingServer server = start(settings(way, pool(), () -> {}).lease(SHORT));
    ThingClient client = clientOf(server);
    ThingHandler writing = handler(way, pool(), written::countDown);
    server.things().handle((request, answer) -> writing.create(request, new Unanswered()));
    running(client).cancel(true);

    Reply retried = Things.untilAnswered(onAnotherServer(way, client), REQUEST);

    assertThat(retried.isReplay()).isEqualTo(way == Way.JOINED);
    assertThat(table.thingsOf(client.user()))
        .hasSize(way == Way.RESERVED ? 2 : 1)
        .contains(retried.thingId());
  }

  @Test
  void aHandlerInATransactionOfItsThreadThatIsGivenUpIsRolledBackOnceItReturns() {
    HikariDataSource pool = pool();
    CountDownLatch mayReturn = new CountDownLatch(1);
    ThingServer server =
        start(
            settings(
                    Way.TRANSACTIONAL,
                    pool,
                    () -> {
                      written.countDown();
                      Uninterruptibles.awaitUninterruptibly(mayReturn);
                    })
                .hostTransactions(new ThreadTransactions(pool))
                .lease(SHORT)
                .callLimit(SHORT));
    ThingClient client = clientOf(server);
    ThingClient elsewhere = onAnotherServer(Way.TRANSACTIONAL, client);
    try (LogLines log = LogLines.listen()) {
      CompletableFuture<Reply> running = running(client);
      await()
          .until(() -> log.warnings().stream().anyMatch(line -> line.contains("was not answered")));

      assertThat(elsewhere.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
      assertThat(running).isNotDone();
      mayReturn.countDown();

      assertThat(running.join().status().getCode()).isEqualTo(Status.Code.INTERNAL);
    } finally {
      mayReturn.countDown();
    }
    assertThat(table.thingsOf(client.user())).isEmpty();
    Reply retried = Things.untilAnswered(elsewhere, REQUEST);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @Test
  void aReservedHandlerThatIsGivenUpMayStillRunWhenARetryRunsItAgain() {
    ThingClient client = clientOf(hanging(Way.RESERVED));

    assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
    Reply retried = Things.untilAnswered(onAnotherServer(Way.RESERVED, client), REQUEST);
    mayAnswer.countDown();

    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).as("a second effect").hasSize(2);
    assertThat(client.createThing(REQUEST).bytes()).isEqualTo(retried.bytes());
  }

  @Test
  void aHandlerThatIsGivenUpAndRunsAgainCommitsOnlyOnceIfItCompletes() {
    ThingServer server = hanging(Way.JOINED);
    ThingClient client = clientOf(server);
    CompletableFuture<Throwable> late = new CompletableFuture<>();
    server
        .things()
        .handle(
            (request, answer) -> {
              Uninterruptibles.awaitUninterruptibly(mayAnswer);
              try {
                handler(Way.JOINED, pool(), () -> {}).create(request, answer);
                late.complete(new AssertionError("completed"));
              } catch (RuntimeException refused) {
                late.complete(refused);
              }
            });
    assertThat(client.createThing(REQUEST).reason()).isEqualTo(Things.IN_PROGRESS);
    Reply retried = Things.untilAnswered(onAnotherServer(Way.JOINED, client), REQUEST);
    mayAnswer.countDown();

    assertThat(retried.isReplay()).isFalse();
    assertThat(late.join()).isInstanceOf(ClaimLostException.class);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource
  void ifThePoolOfHandlersIsExhaustedNothingIsWrittenAndARetryRuns(Way way) throws SQLException {
    HikariDataSource small = impatientPool();
    small.setMaximumPoolSize(1);
    ThingServer server = start(settings(way, small, () -> {}));
    ThingClient client = clientOf(server);

    try (Connection taken = small.getConnection()) {
      Reply refused = client.createThing(REQUEST);

      assertThat(taken.isClosed()).isFalse();
      boolean claimsThere = way == Way.TRANSACTIONAL || way == Way.AT_COMMIT;
      assertThat(refused.status().getCode())
          .isEqualTo(claimsThere ? Status.Code.UNAVAILABLE : Status.Code.UNKNOWN);
      assertThat(server.runs()).isEqualTo(claimsThere ? 0 : 1);
    }

    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void anAnswerThatIsTooLargeRollsATransactionalCallBack(Way way) {
    ThingServer server =
        start(settings(way, pool(), () -> {}).createThing(thing -> thing.maxRecordedBytes(10)));
    ThingClient client = clientOf(server);

    Reply refused = client.createThing(REQUEST);

    assertThat(refused.status().getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(refused.description()).contains("too large to be recorded");
    assertThat(table.thingsOf(client.user())).isEmpty();
    assertThat(table.rowsOf(client.user())).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "AT_COMMIT"})
  void duringAnOutageATransactionalCallIsRefused(Way way) {
    ThingServer server = start(settings(way, impatientPool(), () -> {}));
    ThingClient client = clientOf(server);
    postgres.kill();

    Reply refused = client.createThing(REQUEST);
    assertThat(server.runs()).isZero();
    restart();

    assertThat(refused.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(refused.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "JOINED"})
  void duringAnOutageACallWithARequiredKeyIsRefused(Way way) {
    ThingServer server =
        start(
            settings(way, impatientPool(), () -> {})
                .createThing(thing -> thing.keyPolicy(KeyPolicy.REQUIRED)));
    ThingClient client = clientOf(server);
    postgres.kill();

    Reply refused = client.createThing(REQUEST);
    assertThat(server.runs()).isZero();
    restart();

    assertThat(refused.reason()).isEqualTo(Things.STORE_UNAVAILABLE);
    Reply retried = Things.untilAnswered(client, REQUEST);
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "JOINED"})
  void aHandlerThatBeginsInAnOutageWithAnOptionalKeyIsNotRecordedAndRunsAgain(Way way) {
    HikariDataSource pool = impatientPool();
    AtomicBoolean out = new AtomicBoolean(true);
    ThingServer server = start(settings(way, pool, () -> {}));
    ThingClient client = clientOf(server);
    server
        .things()
        .handle(
            (request, answer) -> {
              if (out.getAndSet(false)) {
                restart();
              }
              handler(way, pool, () -> {}).create(request, answer);
            });
    postgres.kill();

    Reply unprotected = Things.untilAnswered(client, REQUEST);
    assertThat(server.events()).contains(Kind.UNPROTECTED);
    Reply retried = Things.untilAnswered(client, REQUEST);

    assertThat(retried.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user()))
        .as("a second effect")
        .containsExactlyInAnyOrder(unprotected.thingId(), retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"RESERVED", "JOINED"})
  void ifTheRowOfARunningCallIsRemovedARetryRunsAndOnlyAJoinedHandlerCommitsOnce(Way way) {
    ThingServer server = start(way);
    ThingClient client = clientOf(server);
    server.things().handle((request, answer) -> late(way).create(request, answer));
    CompletableFuture<Reply> freed = running(client);

    database.execute("DELETE FROM idempotency.idempotency_keys WHERE user_uuid = ?", client.user());
    Reply retried = onAnotherServer(way, client).createThing(REQUEST);
    mayAnswer.countDown();

    assertThat(retried.isOk()).isTrue();
    assertThat(retried.isReplay()).isFalse();
    assertThat(freed.join().reason()).isEqualTo(Things.IN_PROGRESS);
    assertThat(table.thingsOf(client.user()))
        .hasSize(way == Way.JOINED ? 1 : 2)
        .contains(retried.thingId());
  }

  @ParameterizedTest
  @EnumSource(names = {"TRANSACTIONAL", "RESERVED", "JOINED"})
  void aDuplicateThatWaitsOnAnotherServerGetsTheAnswerOfTheOnlyRun(Way way) {
    UnaryOperator<PostgresThingServer.Builder> attaching =
        server -> server.createThing(thing -> thing.attach(Duration.ofMinutes(1)));
    ThingServer left = start(attaching.apply(settings(way, pool(), () -> {})));
    ThingServer right = start(attaching.apply(settings(way, pool(), () -> {})));
    left.things().handle((request, answer) -> late(way).create(request, answer));
    ThingClient client = clientOf(left);
    CompletableFuture<Reply> first = running(client);
    CompletableFuture<Reply> duplicate = clientOf(right).like(client).startThing(REQUEST);
    await().until(() -> right.events().contains(Kind.ATTACHED));
    mayAnswer.countDown();

    assertThat(duplicate.join().isReplay()).isTrue();
    assertThat(duplicate.join().bytes()).isEqualTo(first.join().bytes());
    assertThat(left.runs() + right.runs()).isEqualTo(1);
    assertThat(table.thingsOf(client.user())).containsExactly(first.join().thingId());
  }

  @Test
  void anotherRequestWithAKeyThatIsClaimedAtCommitIsRefusedOnceTheFirstCallHasEnded() {
    ThingServer left = start(settings(Way.AT_COMMIT, pool(), () -> {}));
    ThingServer right = start(Way.AT_COMMIT);
    ThingClient client = clientOf(right);
    CreateThingRequest another = Things.named("another thing");
    CompletableFuture<Reply> running = client.startThing(another);
    Uninterruptibles.awaitUninterruptibly(written);

    Reply first = clientOf(left).like(client).createThing(REQUEST);
    mayAnswer.countDown();

    assertThat(first.isOk()).isTrue();
    assertThat(running.join().reason()).isEqualTo(Things.KEY_REUSED);
    assertThat(client.createThing(another).reason()).isEqualTo(Things.KEY_REUSED);
    assertThat(table.thingsOf(client.user())).containsExactly(first.thingId());
  }

  @ParameterizedTest
  @EnumSource
  void whenARecordHasExpiredItsKeyIsFree(Way way) {
    ThingServer server = start(settings(way, pool(), () -> {}));
    ThingClient client = clientOf(server);
    assertThat(client.createThing(REQUEST).isReplay()).isFalse();
    assertThat(client.createThing(REQUEST).isReplay()).isTrue();

    table.expire(client.user());
    Reply second = client.createThing(Things.named("another thing"));

    assertThat(second.isOk()).isTrue();
    assertThat(second.isReplay()).isFalse();
    assertThat(table.thingsOf(client.user())).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource
  void aHandlerThatRunsLongerThanItsServersGraceIsRecordedAndReplayed(Way way) {
    ThingServer server = start(way);
    ThingClient client = clientOf(server);
    CompletableFuture<Reply> running = running(client);

    server.drain(Duration.ofMillis(100));

    assertThat(running.join().reason()).isEqualTo("IDEMPOTENCY_SHUTTING_DOWN");
    mayAnswer.countDown();
    Reply retried = Things.untilAnswered(onAnotherServer(way, client), REQUEST);
    assertThat(retried.isReplay()).isTrue();
    assertThat(table.thingsOf(client.user())).containsExactly(retried.thingId());
  }

  private static ThingHandler handler(Way way, HikariDataSource pool, Runnable afterEffect) {
    Jdbi jdbi = Jdbi.create(pool);
    return (request, answer) -> {
      UUID user = ThingServer.caller().userId();
      Thing thing = ThingHandler.newThing(request);
      switch (way) {
        case TRANSACTIONAL, AT_COMMIT -> ThingHandlers.insert(ClaimJdbi.handle(), user, thing);
        case RESERVED -> jdbi.useTransaction(handle -> ThingHandlers.insert(handle, user, thing));
        case JOINED ->
            jdbi.useTransaction(
                handle -> {
                  ThingHandlers.insert(handle, user, thing);
                  Joining.completeAndCommit(handle, thing);
                });
      }
      afterEffect.run();
      ThingHandler.answer(answer, thing);
    };
  }

  private static PostgresThingServer.Builder settings(
      Way way, HikariDataSource pool, Runnable afterEffect) {
    PostgresThingServer.Builder server = PostgresThingServer.on(pool).lease(LEASE);
    ThingHandler handler = handler(way, pool, afterEffect);
    return switch (way) {
      case TRANSACTIONAL -> server.transactional(handler);
      case AT_COMMIT -> server.createThing(thing -> thing.claimAtCommit()).transactional(handler);
      case RESERVED, JOINED -> server.execution(Execution.RESERVED).handler(handler);
    };
  }

  /** Starts a server whose first handler writes, and then waits until it may answer. */
  private ThingServer start(Way way) {
    return start(settings(way, pool(), this::pause));
  }

  private ThingServer failing(Way way, Failure failure) {
    ThingServer server = start(way);
    server
        .things()
        .handle(
            (request, answer) ->
                handler(
                        way,
                        pool(),
                        () -> {
                          if (failure == Failure.THROWS) {
                            throw new IllegalStateException("on purpose");
                          }
                          answer.onError(Status.NOT_FOUND.asRuntimeException());
                        })
                    .create(request, answer));
    return server;
  }

  /** Returns a handler that waits until it may write. */
  private ThingHandler late(Way way) {
    ThingHandler writing = handler(way, pool(), () -> {});
    return (request, answer) -> {
      pause();
      writing.create(request, answer);
    };
  }

  private static boolean isRecorded(UUID user) {
    return database.one(
        Boolean.class,
        "SELECT completed IS NOT NULL FROM idempotency.idempotency_keys WHERE user_uuid = ?",
        user);
  }

  private ThingServer hanging(Way way) {
    return start(settings(way, pool(), this::pause).lease(SHORT).callLimit(SHORT));
  }

  private ThingClient onAnotherServer(Way way, ThingClient client) {
    return clientOf(start(settings(way, pool(), () -> {}))).like(client);
  }

  private void pause() {
    written.countDown();
    Uninterruptibles.awaitUninterruptibly(mayAnswer);
  }

  private CompletableFuture<Reply> running(ThingClient client) {
    CompletableFuture<Reply> call = client.startThing(REQUEST);
    await().until(() -> written.getCount() == 0 || call.isDone());
    // On a busy machine, a short lease may end before the handler begins.
    return written.getCount() == 0 ? call : running(client);
  }

  private ThingClient clientOfKilledServer(Way way) {
    ThingClient client = clientOf(start(settings(way, pool(), () -> {})));
    try (ServerProcess doomed =
        ServerProcess.start(ExecutionsTest.class, database.appUrl(), way.name())) {
      ThingClient toDoomed = ThingClient.to(Integer.parseInt(doomed.awaitLine("port")));
      open.add(0, toDoomed);
      CompletableFuture<Reply> lost = toDoomed.like(client).startThing(REQUEST);
      doomed.awaitLine("written");
      doomed.kill();
      assertThat(lost.join().isOk()).isFalse();
    }
    return client;
  }

  private static void restart() {
    postgres.restart();
    database.reconnect();
  }

  private HikariDataSource pool() {
    return pool(Duration.ofSeconds(10));
  }

  /** Opens a pool that soon finds that the database is down. */
  private HikariDataSource impatientPool() {
    return pool(Duration.ofSeconds(1));
  }

  private HikariDataSource pool(Duration patience) {
    HikariDataSource pool = PostgresThingServer.pool(database.appUrl(), patience);
    open.add(pool);
    return pool;
  }

  private ThingServer start(PostgresThingServer.Builder settings) {
    ThingServer server = settings.start();
    open.add(0, server);
    return server;
  }

  private ThingClient clientOf(ThingServer server) {
    ThingClient client = ThingClient.to(server.port());
    open.add(0, client);
    return client;
  }
}
