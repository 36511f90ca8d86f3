package io.github.grpcidempotency.client.intents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.intents.Buyer.Step;
import io.github.grpcidempotency.fault.ServerProcess;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.ShopServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that is killed with SIGKILL, and what becomes of its intents. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IntentKillTest {
  private static final Set<Step> STEPS = EnumSet.complementOf(EnumSet.of(Step.NEVER));
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Databases.Database shop = Databases.shop();

  private final ShopServer server = new ShopServer(shop);
  private final Map<Step, ClientDatabase> buyers = new LinkedHashMap<>();

  /** One process has a client at every step, and is killed once. */
  @BeforeAll
  void killOneAtEveryStep() {
    server.holdHandlers(Step.DURING_CALL.name());
    STEPS.forEach(step -> buyers.put(step, ClientDatabase.of(ClientDatabase.buyer())));
    try (ServerProcess clients = start(1, buyers)) {
      for (Step step : EnumSet.complementOf(EnumSet.of(Step.NEVER, Step.DURING_CALL))) {
        await().until(() -> clients.count("at " + step) == 1);
      }
      await().until(() -> server.waiting() == 1);
      clients.kill();
    }
    server.letHandlersGo();
  }

  @AfterAll
  void close() {
    server.close();
    buyers.values().forEach(ClientDatabase::close);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NEVER")
  void atEveryPointOfAKillADecisionHasOneEffectAndItsAnswerArrives(Step step)
      throws InterruptedException {
    ClientDatabase buyer = Optional.ofNullable(buyers.get(step)).orElseThrow();

    finish(buyer);

    assertThat(decisions(buyer)).hasSize(step == Step.BEFORE_COMMIT ? 0 : 1);
    assertOneEffectPerDecision(step, buyer);
  }

  @Test
  @Tag("torture")
  void aHundredKillsAtAnyTimeLeaveOneEffectPerDecision() throws InterruptedException {
    ClientDatabase buyer = ClientDatabase.of(ClientDatabase.buyer());

    for (int i = 0; i < 100; i++) {
      try (ServerProcess one = start(200, Map.of(Step.NEVER, buyer));
          ServerProcess two = start(200, Map.of(Step.NEVER, buyer))) {
        assertThat(one.awaitLine("decided")).isEmpty();
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(500));
        one.kill();
        two.kill();
      }
    }
    finish(buyer);

    assertThat(decisions(buyer)).hasSizeGreaterThanOrEqualTo(100);
    assertOneEffectPerDecision(Step.NEVER, buyer);
    buyer.close();
  }

  private ServerProcess start(int orders, Map<Step, ClientDatabase> at) {
    List<String> arguments = new ArrayList<>();
    arguments.add(Integer.toString(server.port()));
    arguments.add(Integer.toString(orders));
    at.forEach((step, database) -> arguments.addAll(List.of(step.name(), database.url())));
    return ServerProcess.start(Buyer.class, arguments.toArray(String[]::new));
  }

  private void finish(ClientDatabase database) throws InterruptedException {
    try (Buyer survivor = new Buyer(Step.NEVER, server.port());
        IntentWorker worker =
            survivor.worker(database.intents(), survivor.new ToDatabase(database))) {
      assertThat(worker.drain(PATIENCE)).isTrue();
    }
  }

  private void assertOneEffectPerDecision(Step step, ClientDatabase buyer) {
    String effects = " FROM shop.orders WHERE name LIKE '%s %%'".formatted(step);
    assertThat(shop.column("SELECT name" + effects))
        .containsExactlyInAnyOrderElementsOf(decisions(buyer));
    assertThat(buyer.column("SELECT DISTINCT order_id FROM buyer.answers"))
        .containsExactlyInAnyOrderElementsOf(shop.column("SELECT id" + effects));
    assertThat(buyer.keys()).isEmpty();
  }

  private static List<String> decisions(ClientDatabase buyer) {
    return buyer.column("SELECT name FROM buyer.decisions");
  }
}
