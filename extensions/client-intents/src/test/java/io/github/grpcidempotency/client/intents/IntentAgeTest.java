package io.github.grpcidempotency.client.intents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.github.grpcidempotency.shop.ShopServer;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Intents that have no answer for so long that their server may have forgotten them. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IntentAgeTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();
  private static final Set<Route> ROUTES =
      Set.of(Route.of("shop", OrderServiceGrpc.getCreateOrderMethod()));
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofHours(21);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private static final Databases.Database shop = Databases.shop();

  private final ClientDatabase database = ClientDatabase.of(ClientDatabase.buyer());
  private final IntentStore intents = database.intents();
  private final ShopServer server = new ShopServer(shop);
  private final ManagedChannel channel = server.channel(builder -> builder);
  private final Collected collected = new Collected();

  @BeforeEach
  void begin() {
    database.execute("DELETE FROM idempotency_client.intents");
    server.reset();
    collected.reset();
  }

  @AfterAll
  void close() {
    server.close();
    database.close();
  }

  @Test
  void anIntentWithAnExpiredRecordIsNotSentAgainAfterARestart() throws Exception {
    write(Intent.create());
    server.losingAnswers(1_000);
    tryUntil(channel, () -> server.runs() == 1);
    server.losingAnswers(0);
    int calls = server.keys().size();

    database.pass(LONG);
    forgetAtTheServer();

    assertThat(drain(channel)).isTrue();
    assertThat(server.runs()).isEqualTo(1);
    assertThat(server.keys()).hasSize(calls);
    assertGivenUp(Outcome.UNKNOWN);
  }

  @Test
  void anOldIntentThatWasSentByOtherMeansIsNotSentAgain() throws Exception {
    Intent intent = Intent.create();
    assertThat(intent.on(OrderServiceGrpc.newBlockingStub(channel)).createOrder(REQUEST).getName())
        .isEqualTo("tea");
    write(intent);
    tryNowhere();

    database.pass(LONG);
    forgetAtTheServer();

    assertThat(drain(channel)).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @Test
  void anIntentThatCouldNeverBeSentIsGivenUpAsNeverExecuted() throws Exception {
    write(Intent.create());
    tryNowhere();

    database.pass(LONG);

    assertThat(drain(channel)).isTrue();
    assertThat(server.keys()).isEmpty();
    assertGivenUp(Outcome.NEVER_EXECUTED);
  }

  @Test
  void anIntentIsSentUntilItIsGivenUpHoweverLongTheServerWasDown() throws Exception {
    write(Intent.create());
    tryNowhere();

    database.pass(Duration.ofHours(19));

    assertThat(drain(channel)).isTrue();
    assertThat(collected.answers()).hasSize(1);
  }

  @Test
  void aStoredAnswerIsPassedOnHoweverOldItIs() throws Exception {
    collected.failing(1);
    write(Intent.create());
    tryUntil(channel, () -> collected.answers().size() == 1);

    database.pass(LONG);

    assertThat(drain(channel)).isTrue();
    assertThat(collected.answers()).hasSize(2);
    assertThat(collected.failures()).isEmpty();
  }

  @Test
  void aPushbackOfDaysDoesNotDelayTheEndOfAnIntent() throws Exception {
    try (EchoServer busy = new EchoServer()) {
      busy.answering(Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "864000000"));
      write(Intent.create());
      tryUntil(busy.channel(builder -> builder), () -> busy.seen().size() == 1);

      database.pass(LONG);

      assertThat(drain(busy.channel(builder -> builder))).isTrue();
      assertThat(busy.seen()).hasSize(1);
      assertGivenUp(Outcome.UNKNOWN);
    }
  }

  @Test
  void onlyAnIntentThatMayHaveBeenSentIsMarkedAsARetry() throws Exception {
    try (EchoServer first = new EchoServer().answering(Answer.of(Status.UNAVAILABLE));
        EchoServer second = new EchoServer()) {
      write(Intent.create());
      tryNowhere();
      database.pass(Duration.ofHours(1));
      assertThat(drain(first.channel(builder -> builder))).isTrue();
      assertThat(first.seen()).extracting(EchoServer.Seen::hint).containsExactly("none", "true");

      write(Intent.create());
      // A process takes the intent, and is killed before it sends it.
      assertThat(intents.take(ROUTES, Map.of("shop", 1), Duration.ZERO)).hasSize(1);
      assertThat(drain(second.channel(builder -> builder))).isTrue();
      assertThat(second.seen()).extracting(EchoServer.Seen::hint).containsExactly("true");
    }
  }

  @Test
  void theLastAttemptEndsWhenTheIntentIsGivenUp() throws Exception {
    try (EchoServer silent = new EchoServer()) {
      // The intent must live until it has been sent, however slow this machine is.
      for (Duration life = SHORT; silent.seen().isEmpty(); life = life.multipliedBy(2)) {
        silent.answering(Answer.none());
        collected.failures().clear();
        write(Intent.create());

        try (IntentWorker worker =
            worker(silent.channel(builder -> builder)).giveUpAfter(life).build()) {
          assertThat(worker.drain(PATIENCE.plus(life))).isTrue();
        }
      }

      assertThat(silent.seen()).hasSize(1);
      assertGivenUp(Outcome.UNKNOWN);
    }
  }

  private void assertGivenUp(Outcome outcome) {
    assertThat(collected.answers()).isEmpty();
    assertThat(collected.failures())
        .singleElement()
        .satisfies(
            failure -> {
              assertThat(failure.outcome()).isEqualTo(outcome);
              assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            });
  }

  private void write(Intent intent) throws SQLException {
    try (Connection connection = database.connection()) {
      intents.write(connection, intent, "shop", OrderServiceGrpc.getCreateOrderMethod(), REQUEST);
    }
  }

  /** Fails to send, as a process that ends then. */
  private void tryNowhere() throws IOException {
    ManagedChannel nowhere = EchoServer.toNowhere();
    try {
      tryUntil(nowhere, () -> nowhere.getState(false) == ConnectivityState.TRANSIENT_FAILURE);
    } finally {
      nowhere.shutdownNow();
    }
  }

  /** Works until something has come of it, as a process that ends then, and leaves the intent. */
  private void tryUntil(ManagedChannel to, Callable<Boolean> enough) {
    try (IntentWorker worker = worker(to).build()) {
      worker.start();
      await().until(enough);
    }
    assertThat(intents.hasAny(ROUTES)).isTrue();
  }

  private boolean drain(ManagedChannel to) throws InterruptedException {
    try (IntentWorker worker = worker(to).build()) {
      return worker.drain(PATIENCE);
    }
  }

  private IntentWorker.Builder worker(ManagedChannel to) {
    return IntentWorker.builder(intents)
        .method(
            "shop",
            OrderServiceGrpc.newStub(to),
            OrderServiceGrpc.getCreateOrderMethod(),
            collected);
  }

  private static void forgetAtTheServer() {
    shop.execute("UPDATE idempotency.idempotency_keys SET expires = now() - interval '1 second'");
  }
}
