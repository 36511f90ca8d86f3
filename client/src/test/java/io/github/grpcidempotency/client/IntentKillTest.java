package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.Buyer.Step;
import io.github.grpcidempotency.fault.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A client that is killed with SIGKILL, and what becomes of its intents, on both databases. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IntentKillTest {
  /** Where intents are kept. */
  enum Place {
    POSTGRES,
    SQLITE
  }

  /** A client that is killed at a step. */
  record Killed(Step step, Place place) {}

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Databases.Database shop = Databases.shop();

  private final ShopServer server = new ShopServer(shop);
  private final Map<Killed, ClientDatabase> buyers = new LinkedHashMap<>();
  private final Path home;

  IntentKillTest(@TempDir Path home) {
    this.home = home;
  }

  static Stream<Killed> everywhere() {
    return EnumSet.complementOf(EnumSet.of(Step.NEVER)).stream()
        .flatMap(step -> Arrays.stream(Place.values()).map(place -> new Killed(step, place)));
  }

  /** One process has a client at every step, and is killed once. */
  @BeforeAll
  void killOneAtEveryStep() {
    server.holdHandlers(Step.DURING_CALL.name());
    everywhere().forEach(killed -> buyers.put(killed, create(killed.place())));
    try (ServerProcess clients = start(1, buyers)) {
      for (Step step : EnumSet.complementOf(EnumSet.of(Step.NEVER, Step.DURING_CALL))) {
        await().atMost(PATIENCE).until(() -> clients.count("at " + step) == 2);
      }
      await().atMost(PATIENCE).until(() -> server.waiting() == 2);
      clients.kill();
    }
    server.letHandlersGo();
  }

  private ClientDatabase create(Place place) {
    return switch (place) {
      case POSTGRES -> ClientDatabase.of(Databases.buyer());
      case SQLITE -> ClientDatabase.sqlite(home.resolve(UUID.randomUUID().toString()));
    };
  }

  @AfterAll
  void close() {
    server.close();
    buyers.values().forEach(ClientDatabase::close);
  }

  @ParameterizedTest
  @MethodSource("everywhere")
  void atEveryPointOfAKillADecisionHasOneEffectAndItsAnswerArrives(Killed killed)
      throws InterruptedException {
    ClientDatabase buyer = Optional.ofNullable(buyers.get(killed)).orElseThrow();

    finish(buyer);

    assertThat(decisions(buyer)).hasSize(killed.step() == Step.BEFORE_COMMIT ? 0 : 1);
    assertOneEffectPerDecision(killed, buyer);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("torture")
  void aHundredKillsAtAnyTimeLeaveOneEffectPerDecision(Place place) throws InterruptedException {
    ClientDatabase buyer = create(place);
    Killed never = new Killed(Step.NEVER, place);

    for (int i = 0; i < 100; i++) {
      try (ServerProcess one = start(200, Map.of(never, buyer));
          ServerProcess two = start(200, Map.of(never, buyer))) {
        assertThat(one.awaitLine("decided")).isEmpty();
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(500));
        one.kill();
        two.kill();
      }
    }
    finish(buyer);

    assertThat(decisions(buyer)).hasSizeGreaterThanOrEqualTo(100);
    assertOneEffectPerDecision(never, buyer);
    buyer.close();
  }

  private ServerProcess start(int orders, Map<Killed, ClientDatabase> at) {
    List<String> arguments = new ArrayList<>();
    arguments.add(Integer.toString(server.port()));
    arguments.add(Integer.toString(orders));
    at.forEach(
        (killed, database) -> {
          arguments.addAll(List.of(killed.step().name(), killed.place().name(), database.url()));
        });
    return ServerProcess.start(Buyer.class, arguments.toArray(String[]::new));
  }

  private void finish(ClientDatabase database) throws InterruptedException {
    try (Buyer survivor = new Buyer(Step.NEVER, "", server.port());
        IntentWorker worker =
            survivor.worker(database.intents(), survivor.new ToDatabase(database))) {
      assertThat(worker.drain(PATIENCE.multipliedBy(10))).isTrue();
    }
  }

  private void assertOneEffectPerDecision(Killed killed, ClientDatabase buyer) {
    String effects =
        " FROM shop.orders WHERE name LIKE '%s %s %%'".formatted(killed.step(), killed.place());
    assertThat(shop.column("SELECT name" + effects))
        .containsExactlyInAnyOrderElementsOf(decisions(buyer));
    assertThat(buyer.column("SELECT DISTINCT order_id FROM {answers}"))
        .containsExactlyInAnyOrderElementsOf(shop.column("SELECT id" + effects));
    assertThat(buyer.keys()).isEmpty();
  }

  private static List<String> decisions(ClientDatabase buyer) {
    return buyer.column("SELECT name FROM {decisions}");
  }
}
