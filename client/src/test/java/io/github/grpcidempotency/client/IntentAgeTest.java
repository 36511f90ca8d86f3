package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.CallFailedException.Outcome;
import io.github.grpcidempotency.client.EchoServer.Answer;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Intents that have no answer for so long that their server may have forgotten them. */
class IntentAgeTest {
  /** Where intents are kept. */
  enum Place {
    POSTGRES,
    SQLITE
  }

  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();
  private static final Set<Route> ROUTES =
      Set.of(IntentStore.route("shop", OrderServiceGrpc.getCreateOrderMethod()));
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofHours(21);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private static final Databases.Database shop = Databases.shop();
  private static final Databases.Database buyer = Databases.buyer();

  private final ClientDatabase postgres = ClientDatabase.of(buyer);
  private final ClientDatabase sqlite;
  private final ShopServer server = new ShopServer(shop);
  private final ManagedChannel channel = server.channel(builder -> builder);
  private final Collected collected = new Collected();

  IntentAgeTest(@TempDir Path home) {
    this.sqlite = ClientDatabase.sqlite(home.resolve("intents"));
  }

  @BeforeEach
  void begin() {
    postgres.execute("DELETE FROM {intents}");
  }

  @AfterEach
  void close() {
    server.close();
    postgres.close();
    sqlite.close();
  }

  @ParameterizedTest
  @EnumSource
  void anIntentWithAnExpiredRecordIsNotSentAgainAfterARestart(Place place) throws Exception {
    write(place, Intent.create());
    server.losingAnswers(1_000);
    tryUntil(place, channel, () -> server.runs() == 1);
    server.losingAnswers(0);
    int calls = server.keys().size();

    pass(LONG);
    forgetAtTheServer();

    assertThat(drain(place, channel, PATIENCE)).isTrue();
    assertThat(server.runs()).isEqualTo(1);
    assertThat(server.keys()).hasSize(calls);
    assertGivenUp(Outcome.UNKNOWN);
  }

  @ParameterizedTest
  @EnumSource
  void anOldIntentThatWasSentByOtherMeansIsNotSentAgain(Place place) throws Exception {
    Intent intent = Intent.create();
    assertThat(intent.on(OrderServiceGrpc.newBlockingStub(channel)).createOrder(REQUEST).getName())
        .isEqualTo("tea");
    write(place, intent);
    tryNowhere(place);

    pass(LONG);
    forgetAtTheServer();

    assertThat(drain(place, channel, PATIENCE)).isTrue();
    assertThat(server.runs()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource
  void anIntentThatCouldNeverBeSentIsGivenUpAsNeverExecuted(Place place) throws Exception {
    write(place, Intent.create());
    tryNowhere(place);

    pass(LONG);

    assertThat(drain(place, channel, PATIENCE)).isTrue();
    assertThat(server.keys()).isEmpty();
    assertGivenUp(Outcome.NEVER_EXECUTED);
  }

  @ParameterizedTest
  @EnumSource
  void anIntentIsSentUntilItIsGivenUpHoweverLongTheServerWasDown(Place place) throws Exception {
    write(place, Intent.create());
    tryNowhere(place);

    pass(Duration.ofHours(19));

    assertThat(drain(place, channel, PATIENCE)).isTrue();
    assertThat(collected.answers()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void aStoredAnswerIsPassedOnHoweverOldItIs(Place place) throws Exception {
    collected.failing(1);
    write(place, Intent.create());
    tryUntil(place, channel, () -> collected.answers().size() == 1);

    pass(LONG);

    assertThat(drain(place, channel, PATIENCE)).isTrue();
    assertThat(collected.answers()).hasSize(2);
    assertThat(collected.failures()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aServerThatSaysToWaitForDaysDoesNotDelayTheEnd(Place place) throws Exception {
    try (EchoServer busy = new EchoServer()) {
      busy.answering(Answer.of(Status.UNAVAILABLE).with("grpc-retry-pushback-ms", "864000000"));
      write(place, Intent.create());
      tryUntil(place, busy.channel(builder -> builder), () -> busy.seen().size() == 1);

      pass(LONG);

      assertThat(drain(place, busy.channel(builder -> builder), PATIENCE)).isTrue();
      assertThat(busy.seen()).hasSize(1);
      assertGivenUp(Outcome.UNKNOWN);
    }
  }

  @ParameterizedTest
  @EnumSource
  void onlyAnIntentThatMayHaveBeenSentIsMarkedAsARetry(Place place) throws Exception {
    try (EchoServer first = new EchoServer().answering(Answer.of(Status.UNAVAILABLE));
        EchoServer second = new EchoServer()) {
      write(place, Intent.create());
      tryNowhere(place);
      pass(Duration.ofHours(1));
      assertThat(drain(place, first.channel(builder -> builder), PATIENCE)).isTrue();
      assertThat(first.seen()).extracting(RetryHintTest::hint).containsExactly("none", "true");

      write(place, Intent.create());
      dieBeforeSending(place);
      assertThat(drain(place, second.channel(builder -> builder), PATIENCE)).isTrue();
      assertThat(second.seen()).extracting(RetryHintTest::hint).containsExactly("true");
    }
  }

  @ParameterizedTest
  @EnumSource
  void theLastAttemptEndsWhenTheIntentIsGivenUp(Place place) throws Exception {
    try (EchoServer silent = new EchoServer()) {
      // The intent must live until it has been sent, however slow this machine is.
      for (Duration life = SHORT; silent.seen().isEmpty(); life = life.multipliedBy(2)) {
        Duration age = life;
        silent.answering(Answer.none());
        collected.failures().clear();
        write(place, Intent.create());

        assertThat(
                drain(
                    place,
                    silent.channel(builder -> builder),
                    PATIENCE.plus(life),
                    worker -> worker.giveUpAfter(age)))
            .isTrue();
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

  private void write(Place place, Intent intent) throws Exception {
    database(place)
        .intents()
        .write(intent, "shop", OrderServiceGrpc.getCreateOrderMethod(), REQUEST);
  }

  /** Fails to send, as a process that ends then. */
  private void tryNowhere(Place place) throws Exception {
    ManagedChannel nowhere = EchoServer.toNowhere();
    try {
      tryUntil(
          place, nowhere, () -> nowhere.getState(false) == ConnectivityState.TRANSIENT_FAILURE);
    } finally {
      nowhere.shutdownNow();
    }
  }

  /** Works until something has come of it, as a process that ends then, and leaves the intent. */
  private void tryUntil(Place place, ManagedChannel to, Callable<Boolean> enough) throws Exception {
    boolean left =
        in(
            place,
            intents -> {
              try (IntentWorker worker = worker(intents, to).build()) {
                worker.start();
                await().atMost(PATIENCE).until(enough);
              }
              return intents.hasAny(ROUTES);
            });
    assertThat(left).isTrue();
  }

  /** Takes the intents, as a process that is killed then. */
  private void dieBeforeSending(Place place) throws Exception {
    List<StoredIntent> taken = in(place, intents -> intents.take(ROUTES, 1, Duration.ZERO));
    assertThat(taken).hasSize(1);
  }

  private boolean drain(Place place, ManagedChannel to, Duration time) throws Exception {
    return drain(place, to, time, worker -> worker);
  }

  private boolean drain(
      Place place, ManagedChannel to, Duration time, UnaryOperator<IntentWorker.Builder> settings)
      throws Exception {
    return in(
        place,
        intents -> {
          try (IntentWorker worker = settings.apply(worker(intents, to)).build()) {
            return worker.drain(time);
          }
        });
  }

  private IntentWorker.Builder worker(IntentStore intents, ManagedChannel to) {
    return IntentWorker.builder(intents)
        .method(
            "shop",
            OrderServiceGrpc.newStub(to),
            OrderServiceGrpc.getCreateOrderMethod(),
            collected);
  }

  /** What a process does with the intents. */
  private interface Use<T> {
    T with(IntentStore intents) throws Exception;
  }

  private <T> T in(Place place, Use<T> use) throws Exception {
    return use.with(database(place).intents());
  }

  private ClientDatabase database(Place place) {
    return switch (place) {
      case POSTGRES -> postgres;
      case SQLITE -> sqlite;
    };
  }

  /** Lets time pass for both stores. */
  private void pass(Duration time) {
    postgres.pass(time);
    sqlite.pass(time);
  }

  private static void forgetAtTheServer() {
    shop.execute("UPDATE idempotency.idempotency_keys SET expires = now() - interval '1 second'");
  }
}
