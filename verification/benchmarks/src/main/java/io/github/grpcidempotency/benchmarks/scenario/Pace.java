package io.github.grpcidempotency.benchmarks.scenario;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The amount of measurements, from the command line. */
public final class Pace {
  /** Each call uses a thread of the server, and waits for a connection. */
  private static final int MOST_CALLS = 1_000;

  private static final int NETWORK_MICROS = 1_000;
  private static final String CALLS = "calls";
  private static final String NETWORK = "calls across a network";

  @Option(
      names = "--variants",
      split = ",",
      paramLabel = "NAME",
      description =
          "Compares only these variants with the bare handler, for example"
              + " transactional,replay-of-transactional or reserved*. A wrong name prints all"
              + " names.")
  private List<String> variants = List.of();

  @Option(
      names = "--concurrency",
      split = ",",
      paramLabel = "CALLS",
      description =
          "The number of concurrent calls, up to 1000, in \"calls\" and \"calls across a"
              + " network\" (1,4,16,64).")
  private List<Integer> concurrency = List.of();

  @Option(
      names = "--seconds",
      description = "The time for which one variant is measured in one round (2).")
  private Optional<Double> seconds = Optional.empty();

  @Option(names = "--rounds", description = "How many rounds (9).")
  private Optional<Integer> rounds = Optional.empty();

  @Option(
      names = "--network-micros",
      paramLabel = "MICROS",
      description =
          "The additional time of each round trip to the database, in \"calls across a"
              + " network\" (1000).")
  private Optional<Integer> networkMicros = Optional.empty();

  @Option(
      names = "--quick",
      description =
          "Only checks that the program works: one round of half a second, with"
              + " meaningless results.")
  private boolean quick;

  /**
   * Checks all of it.
   *
   * @throws IllegalArgumentException if something is impossible
   */
  public void check() {
    Subject.check(variants);
    concurrency.forEach(calls -> within("--concurrency", calls, 1, MOST_CALLS));
    within("--seconds", seconds.orElse(1.0), 0.01, 3_600);
    within("--rounds", rounds(), 1, 1_000);
    within("--network-micros", networkMicros.orElse(NETWORK_MICROS), 1, 1e6);
  }

  /**
   * Checks that each option has an effect.
   *
   * @param scenarios the names of the chosen scenarios
   * @throws IllegalArgumentException if an option has no effect on any of them
   */
  public void checkEffect(List<String> scenarios) {
    affects("--concurrency", !concurrency.isEmpty(), scenarios, CALLS, NETWORK);
    affects("--variants", !variants.isEmpty(), scenarios, CALLS, NETWORK, "cost of a call");
    affects("--network-micros", networkMicros.isPresent(), scenarios, NETWORK);
  }

  private static void affects(
      String option, boolean given, List<String> scenarios, String... affected) {
    if (given && Collections.disjoint(scenarios, List.of(affected))) {
      throw new IllegalArgumentException(
          "%s has no effect on %s, only on %s: choose one of these with --only"
              .formatted(option, String.join(", ", scenarios), String.join(", ", affected)));
    }
  }

  private static void within(String option, double value, double least, double most) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          "%s must be from %s to %s, not %s".formatted(option, least, most, value));
    }
  }

  /** Returns how long one variant is measured in one round. */
  public Duration round() {
    return Duration.ofNanos((long) (seconds.orElse(quick ? 0.5 : 2.0) * 1e9));
  }

  /** Returns how many rounds there are. */
  public int rounds() {
    return rounds.orElse(quick ? 1 : 9);
  }

  List<String> variants() {
    return variants;
  }

  List<Integer> callers() {
    return concurrency.isEmpty() ? List.of(1, 4, 16, 64) : concurrency;
  }

  Duration network() {
    return Duration.ofNanos(1_000L * networkMicros.orElse(NETWORK_MICROS));
  }
}
