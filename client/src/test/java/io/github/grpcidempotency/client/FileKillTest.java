package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.Buyer.Step;
import io.github.grpcidempotency.fault.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A command-line tool that is killed with SIGKILL, and what becomes of its intents. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FileKillTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Databases.Database shop = Databases.shop();

  private final ShopServer server = new ShopServer(shop);
  private final Path home;

  FileKillTest(@TempDir Path home) {
    this.home = home;
  }

  /** One process has a tool at every step, and is killed once. */
  @BeforeAll
  void killOneAtEveryStep() throws IOException {
    server.holdHandlers(Step.DURING_CALL.name());
    try (ServerProcess tools = start(1, EnumSet.complementOf(EnumSet.of(Step.NEVER)))) {
      for (Step step : EnumSet.complementOf(EnumSet.of(Step.NEVER, Step.DURING_CALL))) {
        assertThat(tools.awaitLine("at " + step)).isEmpty();
      }
      await().atMost(PATIENCE).until(() -> server.waiting() == 1);
      tools.kill();
    }
    server.letHandlersGo();
  }

  @AfterAll
  void close() {
    server.close();
  }

  @ParameterizedTest
  @EnumSource(value = Step.class, names = "NEVER", mode = EnumSource.Mode.EXCLUDE)
  void whereverTheToolIsKilledAnIntentHasOneEffectAndItsAnswerArrives(Step step) throws Exception {
    finish(file(step));

    assertThat(orders(step)).hasSize(step == Step.BEFORE_COMMIT ? 0 : 1);
    assertEveryEffectAnswered(step);
  }

  @Test
  void killsAtAnyTimeLeaveOneEffectPerIntent() throws Exception {
    killAtRandom(1, 50);
  }

  @Test
  @Tag("torture")
  void aHundredKillsAtAnyTimeLeaveOneEffectPerIntent() throws Exception {
    killAtRandom(100, 200);
  }

  private void killAtRandom(int kills, int orders) throws Exception {
    Path file = file(Step.NEVER);
    for (int i = 0; i < kills; i++) {
      try (ServerProcess client = start(orders, EnumSet.of(Step.NEVER))) {
        assertThat(client.awaitLine("decided")).isEmpty();
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(500));
        client.kill();
      }
    }
    finish(file);
    assertThat(decisions(file)).hasSizeGreaterThanOrEqualTo(kills);
    // An intent is noted as decided once it is written: of the last before a kill there may be no
    // note.
    assertThat(orders(Step.NEVER))
        .doesNotHaveDuplicates()
        .containsAll(decisions(file))
        .hasSizeBetween(decisions(file).size(), decisions(file).size() + kills);
    assertEveryEffectAnswered(Step.NEVER);
  }

  private ServerProcess start(int orders, Set<Step> steps) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(Integer.toString(server.port()));
    arguments.add(Integer.toString(orders));
    for (Step step : steps) {
      arguments.addAll(List.of(step.name(), file(step).toString()));
    }
    return ServerProcess.start(Buyer.class, arguments.toArray(String[]::new));
  }

  private void finish(Path file) throws Exception {
    try (Buyer survivor = new Buyer(Step.NEVER, server.port());
        FileIntentStore intents = FileIntentStore.open(file);
        IntentWorker worker = survivor.worker(intents, survivor.new ToFile(Buyer.answers(file)))) {
      assertThat(worker.drain(PATIENCE.multipliedBy(10))).isTrue();
    }
  }

  private void assertEveryEffectAnswered(Step step) throws IOException {
    Set<String> answered =
        lines(Buyer.answers(file(step))).stream()
            .map(line -> line.substring(line.indexOf(' ') + 1))
            .collect(Collectors.toSet());
    assertThat(answered).containsExactlyInAnyOrderElementsOf(effects("id", step));
  }

  private static List<String> decisions(Path file) throws IOException {
    return lines(Buyer.decisions(file));
  }

  private static List<String> orders(Step step) {
    return effects("name", step);
  }

  private static List<String> effects(String column, Step step) {
    return shop.column(
        "SELECT %s FROM shop.orders WHERE name LIKE '%s %%'".formatted(column, step));
  }

  private static List<String> lines(Path file) throws IOException {
    return Files.exists(file) ? Files.readAllLines(file) : List.of();
  }

  private Path file(Step step) throws IOException {
    return Files.createDirectories(home.resolve(step.name())).resolve("intents");
  }
}
