package io.github.grpcidempotency.torture;

import static java.util.Collections.disjoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import com.google.common.base.Stopwatch;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Breaks the library on purpose, one way at a time, and expects the checker to see it. */
class SeededFaultTest {
  private static final int MAX_RUNS = 4;

  private static TorturePostgres postgres;

  @BeforeAll
  static void start() {
    postgres = TorturePostgres.start();
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  /** All of them, or those that a property names. */
  static Stream<SeededFault> faults() {
    String named = System.getProperty("torture.faults", "");
    return named.isEmpty()
        ? Arrays.stream(SeededFault.values())
        : Splitter.on(',').splitToStream(named).map(SeededFault::valueOf);
  }

  @ParameterizedTest
  @MethodSource("faults")
  @Tag("torture")
  void everyFaultIsCaught(SeededFault fault) throws InterruptedException {
    // A short run on a busy machine may miss the moment that a fault needs, so it gets several.
    Set<Rule> broken = new HashSet<>();
    for (int seed = 1; seed <= MAX_RUNS && disjoint(broken, fault.broken()); seed++) {
      broken.addAll(run(fault, seed));
    }
    assertThat(broken).containsAnyElementsOf(fault.broken());
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  private static Set<Rule> run(SeededFault fault, int seed) throws InterruptedException {
    Stopwatch watch = Stopwatch.createStarted();
    TortureDatabase database = new TortureDatabase(postgres);
    fault.sabotage().ifPresent(database::run);
    Mutant mutant = fault.build(Path.of("target", "torture", fault.name()));
    TortureReport report =
        TortureReport.run(
            fault.plan(), seed, database, Optional.of(mutant), fault.name(), fault.name());
    System.out.printf(
        "%s (seed %d, %d s) breaks %s%n",
        fault, seed, watch.elapsed().toSeconds(), report.broken());
    return report.broken().keySet();
  }
}
