package io.github.grpcidempotency.client.intents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.github.grpcidempotency.shop.ShopServer;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IntentStoreTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Set<Route> ROUTES =
      Set.of(Route.of("shop", OrderServiceGrpc.getCreateOrderMethod()));

  private static final Map<String, Integer> SHARES = Map.of("shop", 1);

  private static final Databases.Database shop = Databases.shop();
  private static final Databases.Database BUYER = ClientDatabase.buyer();

  private final ClientDatabase buyer = ClientDatabase.of(BUYER);
  private final IntentStore intents = buyer.intents();
  private final ShopServer server = new ShopServer(shop);
  private final OrderServiceBlockingStub stub =
      OrderServiceGrpc.newBlockingStub(server.channel(builder -> builder));
  private final Collected collected = new Collected();

  @BeforeEach
  void begin() {
    buyer.execute("DELETE FROM idempotency_client.intents");
    shop.execute("TRUNCATE shop.orders");
    server.reset();
    collected.reset();
  }

  @AfterAll
  void close() {
    server.close();
    buyer.close();
  }

  @Test
  void anIntentExistsIfItsDecisionDoes() throws Exception {
    try (Connection connection = buyer.connection()) {
      connection.setAutoCommit(false);
      intents.write(connection, "shop", OrderServiceGrpc.getCreateOrderMethod(), order("tea"));
      connection.rollback();
      assertThat(keys()).isEmpty();

      Intent kept =
          intents.write(connection, "shop", OrderServiceGrpc.getCreateOrderMethod(), order("tea"));
      connection.commit();
      assertThat(keys()).containsExactly(kept.toString());
    }
  }

  @Test
  void aWorkerProcessesAnIntentToItsEnd() throws Exception {
    Intent intent = write("tea");

    try (IntentWorker worker = worker(stub).build().start()) {
      worker.wake();
      await().until(() -> keys().isEmpty());
    }

    assertThat(collected.answers()).hasSize(1);
    assertThat(collected.answers().get(0).intent()).isEqualTo(intent);
    assertThat(collected.answers().get(0).reply().replayed()).isFalse();
    assertThat(collected.answers().get(0).reply().operationId()).isPresent();
    assertThat(orders()).containsExactly("tea");
    assertThat(server.keys()).containsExactly(intent.toString());
  }

  @Test
  void aWokenWorkerDoesNotWaitForItsNextLook() throws Exception {
    try (IntentWorker worker = worker(stub).build().start()) {
      drain(worker, "warm up");
      Duration quickest = PATIENCE;
      for (int i = 0; i < 20; i++) {
        long begin = System.nanoTime();
        write("tea " + i);
        worker.wake();
        int wanted = i + 2;
        await()
            .pollInterval(Duration.ofMillis(5))
            .until(() -> collected.answers().size() == wanted);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        quickest = i > 0 && took.compareTo(quickest) < 0 ? took : quickest;
      }
      assertThat(quickest).as("looks are a second apart").isLessThan(Duration.ofMillis(900));
    }
  }

  @Test
  void anIntentThatIsWrittenTwiceExistsOnce() throws Exception {
    Intent intent = Intent.create();
    write(intent, "tea");
    write(intent, "tea");

    assertThat(keys()).containsExactly(intent.toString());
  }

  @Test
  void callsWithLostAnswersAreRepeatedWithTheSameKey() throws Exception {
    server.losingAnswers(2);
    Intent intent = write("tea");

    try (IntentWorker worker = worker(stub).build()) {
      assertThat(worker.drain(PATIENCE)).isTrue();
    }

    assertThat(server.keys()).hasSize(3).containsOnly(intent.toString());
    assertThat(server.runs()).isEqualTo(1);
    assertThat(orders()).containsExactly("tea");
    assertThat(collected.answers()).hasSize(1);
    assertThat(collected.answers().get(0).reply().replayed()).isTrue();
  }

  @Test
  void aCallbackThatFailsGetsTheSameAnswerAgainWithoutAnotherCall() throws Exception {
    collected.failing(1);
    Intent intent = write("tea");

    try (IntentWorker worker = worker(stub).build()) {
      assertThat(worker.drain(PATIENCE)).isTrue();
    }

    assertThat(server.keys()).containsExactly(intent.toString());
    assertThat(collected.answers()).hasSize(2);
    Reply<?> first = collected.answers().get(0).reply();
    Reply<?> second = collected.answers().get(1).reply();
    assertThat(second.response()).isEqualTo(first.response());
    assertThat(second.operationId()).isEqualTo(first.operationId()).isPresent();
    assertThat(second.expires()).isEqualTo(first.expires()).isPresent();
  }

  @Test
  void aRefusalOfTheServiceIsHandedToTheCallback() throws Exception {
    Intent intent = write("");

    try (IntentWorker worker = worker(stub).build()) {
      assertThat(worker.drain(PATIENCE)).isTrue();
    }

    assertThat(collected.failures()).hasSize(1);
    CallFailedException failure = collected.failures().get(0);
    assertThat(failure.outcome()).isEqualTo(Outcome.EXECUTED);
    assertThat(failure.intent()).isEqualTo(intent);
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(failure.getStatus().getDescription()).isEqualTo("an order has a name");
  }

  @Test
  void aRefusalByAnotherInterceptorDoesNotEndAnIntentThatMayHaveBeenExecuted() throws Exception {
    try (EchoServer guarded = new EchoServer()) {
      guarded.answering(
          Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "1"),
          Answer.of(Status.INVALID_ARGUMENT.withDescription("over the quota")));
      Intent intent = write("tea");

      OrderServiceBlockingStub to =
          OrderServiceGrpc.newBlockingStub(guarded.channel(builder -> builder));
      try (IntentWorker worker = worker(to).build()) {
        worker.start();
        await().until(() -> guarded.seen().size() == 2);
      }

      assertThat(collected.failures()).isEmpty();
      assertThat(keys()).containsExactly(intent.toString());
    }
  }

  @Test
  void eachIntentIsTakenByOnlyOneOfManyWorkers() throws Exception {
    try (Connection connection = buyer.connection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < 150; i++) {
        intents.write(connection, "shop", OrderServiceGrpc.getCreateOrderMethod(), order("" + i));
      }
      connection.commit();
    }
    List<Intent> taken = new CopyOnWriteArrayList<>();
    List<CompletableFuture<Void>> takers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      takers.add(
          CompletableFuture.runAsync(
              () -> {
                while (taken.size() < 150) {
                  intents
                      .take(ROUTES, Map.of("shop", 3), Duration.ofMinutes(1))
                      .forEach(one -> taken.add(one.intent()));
                }
              },
              command -> new Thread(command).start()));
    }
    for (CompletableFuture<Void> taker : takers) {
      taker.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    assertThat(taken).hasSize(150).doesNotHaveDuplicates();
  }

  @Test
  void aSlowCallIsNotTakenByAnotherWorkerHoweverShortTheLease() throws Exception {
    Semaphore gate = server.holdHandlers("");
    write("tea");

    try (IntentWorker one = worker(stub).lease(LEASE).build();
        IntentWorker two = worker(stub).lease(LEASE).build()) {
      List.of(one, two).forEach(IntentWorker::start);
      await().until(() -> server.waiting() == 1);
      await().during(LEASE.multipliedBy(2)).until(() -> server.keys().size() == 1);
      gate.release();
      await().until(() -> keys().isEmpty());
    }

    assertThat(collected.answers()).hasSize(1);
  }

  @Test
  void aWorkerThatHasLostAnIntentCannotChangeIt() throws Exception {
    write("tea");
    StoredIntent lost = intents.take(ROUTES, SHARES, Duration.ofMinutes(1)).get(0);
    buyer.pass(Duration.ofMinutes(5));
    StoredIntent taken = intents.take(ROUTES, SHARES, Duration.ofMinutes(1)).get(0);
    assertThat(taken.age()).isGreaterThanOrEqualTo(Duration.ofMinutes(5));

    assertThat(taken.attempts()).isEqualTo(2);
    assertThat(lost.sentBefore()).isFalse();
    assertThat(taken.sentBefore()).isTrue();
    assertThat(intents.answered(lost, ByteString.EMPTY, LEASE)).isFalse();
    intents.postpone(lost, Duration.ZERO, true);
    intents.renew(List.of(lost), Duration.ZERO);
    intents.done(lost);
    assertThat(intents.take(ROUTES, SHARES, LEASE)).isEmpty();
    assertThat(keys()).hasSize(1);
    assertThat(intents.answered(taken, ByteString.EMPTY, LEASE)).isTrue();
    intents.done(taken);
    assertThat(intents.hasAny(ROUTES)).isFalse();
  }

  @Test
  void aRenewalDoesNotChangeTheTimeOfAnIntentThatWasGivenBack() throws Exception {
    write("tea");
    StoredIntent taken = intents.take(ROUTES, SHARES, LEASE).get(0);
    intents.postpone(taken, Duration.ofHours(1), false);

    intents.renew(List.of(taken), Duration.ofMinutes(1));

    assertThat(
            buyer.column("SELECT due > now() + interval '30 min' FROM idempotency_client.intents"))
        .containsExactly("t");
  }

  @Test
  void intentsOfOtherRoutesAreNotTaken() throws Exception {
    try (Connection connection = buyer.connection()) {
      intents.write(connection, "mall", OrderServiceGrpc.getCreateOrderMethod(), order("tea"));
    }

    try (IntentWorker worker = worker(stub).build()) {
      assertThat(worker.drain(PATIENCE)).isTrue();
    }

    assertThat(keys()).hasSize(1);
    assertThat(server.keys()).isEmpty();
  }

  @Test
  void anIntentThatCouldNotBeSentDoesNotCountAsSent() throws Exception {
    write("tea");
    ManagedChannel nowhere = EchoServer.toNowhere();
    try (IntentWorker worker = worker(OrderServiceGrpc.newBlockingStub(nowhere)).build()) {
      assertThat(worker.drain(Duration.ofMillis(300))).isFalse();
      await()
          .until(
              () ->
                  buyer
                      .column(
                          "SELECT count(*) FROM idempotency_client.intents WHERE attempts > 0 AND sent = 0")
                      .equals(List.of("1")));
    } finally {
      nowhere.shutdownNow();
    }
  }

  @Test
  void aCallThatMustNotBeSentTwiceIsNotWritten() throws Exception {
    try (Connection connection = buyer.connection()) {
      for (String method : List.of("CreateOfPattern", "CreateWithAssignedIdOnly", "HandleKeys")) {
        assertThatThrownBy(
                () -> intents.write(connection, "shop", EchoServer.method(method), order("tea")))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("no key");
      }
      assertThatThrownBy(
              () ->
                  intents.write(
                      connection, "shop", OrderServiceGrpc.getRefuseKeysMethod(), order("tea")))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void invalidSettingsOfAWorkerAreRefused() {
    assertThatThrownBy(() -> IntentWorker.builder(intents).build())
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(
            () ->
                worker(stub)
                    .method("shop", stub, OrderServiceGrpc.getCreateOrderMethod(), collected))
        .hasMessageContaining("twice");
    assertThatThrownBy(() -> worker(stub).lease(Duration.ofMillis(10)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> worker(stub).concurrency(0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"CreateOrder", "CreateWithRequestId"})
  void aCallIsFoundByTheKeyOfAKeptIntent(String method) throws Exception {
    Intent intent = Intent.create();
    Reply<Order> reply =
        RetryingCaller.builder()
            .build()
            .call(intent.on(stub), EchoServer.method(method), order("tea"));

    Intent kept = Intent.parse(intent.toString());
    RecoverRequest request =
        RecoverRequest.newBuilder()
            .setMethod(EchoServer.method(method).getFullMethodName())
            .setKey(kept.keyFor(EchoServer.method(method)).orElseThrow())
            .build();

    assertThat(RecoveryGrpc.newBlockingStub(stub.getChannel()).recover(request).getOperation())
        .isEqualTo(reply.operationId().orElseThrow().toString());
  }

  @Test
  void aRequestWithoutAFieldIsKept() throws Exception {
    write("");

    assertThat(intents.take(ROUTES, SHARES, LEASE))
        .extracting(StoredIntent::request)
        .containsExactly(ByteString.EMPTY);
  }

  @Test
  void aWorkerSurvivesAnOutageOfItsDatabase() throws Exception {
    try (IntentWorker worker = worker(stub).build().start()) {
      drain(worker, "before");
      buyer.execute("ALTER TABLE idempotency_client.intents RENAME TO gone");
      worker.wake();
      await().during(Duration.ofMillis(1_200)).until(() -> collected.answers().size() == 1);
      buyer.execute("ALTER TABLE idempotency_client.gone RENAME TO intents");
      write("after");
      await().until(() -> collected.answers().size() == 2);
    }
  }

  private void drain(IntentWorker worker, String name) throws Exception {
    write(name);
    assertThat(worker.drain(PATIENCE)).isTrue();
  }

  private IntentWorker.Builder worker(OrderServiceBlockingStub to) {
    return worker(intents, to);
  }

  private IntentWorker.Builder worker(IntentStore store, OrderServiceBlockingStub to) {
    return IntentWorker.builder(store)
        .method("shop", to, OrderServiceGrpc.getCreateOrderMethod(), collected);
  }

  private Intent write(String name) throws SQLException {
    Intent intent = Intent.create();
    write(intent, name);
    return intent;
  }

  private void write(Intent intent, String name) throws SQLException {
    try (Connection connection = buyer.connection()) {
      intents.write(
          connection, intent, "shop", OrderServiceGrpc.getCreateOrderMethod(), order(name));
    }
  }

  private List<String> keys() {
    return buyer.keys();
  }

  private List<String> orders() {
    return shop.column("SELECT name FROM shop.orders");
  }

  private static OrderRequest order(String name) {
    return OrderRequest.newBuilder().setName(name).build();
  }
}
