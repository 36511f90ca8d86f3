package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.database.DatabaseSettings;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import io.github.grpcidempotency.benchmarks.scenario.Selection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import picocli.CommandLine.Option;

/** What the command line says. What makes no sense is an {@link IllegalArgumentException}. */
final class Options {
  /** Each has a thread of the server's, and waits for a connection. */
  private static final int MOST_CALLS = 1_000;

  private static final Set<String> OF_THE_RUN = Set.of("--only", "--quick", "--results");
  private static final Set<String> OF_THE_DATABASE =
      Set.of("--resource-types", "--postgres", "--set", "--sql");

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SCENARIO",
      description = "Some scenarios; all by default. A wrong name is answered with all names.")
  private List<String> only = List.of();

  @Option(
      names = "--variants",
      split = ",",
      paramLabel = "NAME",
      description =
          "Compare only these with the bare handler, where several are compared, such as"
              + " transactional,replay-of-transactional or reserved*. A wrong name is answered with"
              + " all names.")
  private List<String> variants = List.of();

  @Option(
      names = "--concurrency",
      split = ",",
      defaultValue = "1,4,16,64",
      paramLabel = "CALLS",
      description =
          "How many calls at once, up to 1000, in \"calls\" and \"calls across a network\""
              + " (${DEFAULT-VALUE}).")
  private List<Integer> concurrency = List.of();

  @Option(names = "--seconds", description = "How long one variant is measured in one round (2).")
  private Optional<Double> seconds = Optional.empty();

  @Option(names = "--rounds", description = "How many rounds (9).")
  private Optional<Integer> rounds = Optional.empty();

  @Option(
      names = "--network-micros",
      defaultValue = "1000",
      paramLabel = "MICROS",
      description =
          "By how much each round trip to the database is longer, in \"calls across a network\""
              + " (${DEFAULT-VALUE}).")
  private int networkMicros;

  @Option(
      names = "--resource-types",
      defaultValue = "8",
      paramLabel = "N",
      description =
          "How many resource types the service registers, from 1 to 8 (${DEFAULT-VALUE}): each is a"
              + " column of a record, with a foreign key and an index.")
  private int resourceTypes;

  @Option(
      names = "--postgres",
      paramLabel = "MAJOR",
      description =
          "The major version that PostgreSQL must have, such as 17. The one on the class path by"
              + " default; Maven takes another with -Dembedded-postgres.version=17.11.0.")
  private Optional<Integer> postgres = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of PostgreSQL, such as max_locks_per_transaction=256; as often as there are"
              + " some. It must stay durable.")
  private Map<String, String> parameters = new LinkedHashMap<>();

  @Option(
      names = "--sql",
      paramLabel = "FILE",
      description =
          "SQL that the owner runs after the migrations, to measure a change of the schema, which"
              + " it calls $${schema}.")
  private Optional<Path> sql = Optional.empty();

  @Option(
      names = "--connections",
      defaultValue = "20",
      description = "How many connections the service's pool has (${DEFAULT-VALUE}).")
  private int connections;

  @Option(
      names = "--keys",
      description = "How many live keys a full table has, in \"live keys\" (5,000,000).")
  private Optional<Integer> liveKeys = Optional.empty();

  @Option(
      names = "--rows",
      description =
          "How many live keys each table of \"large tables\" has (5,000,000). A million takes about"
              + " 1.4 GB of disk besides the log, and a minute to load.")
  private Optional<Integer> rows = Optional.empty();

  @Option(
      names = "--partitions",
      split = ",",
      defaultValue = "16",
      description =
          "Numbers of hash partitions that \"large tables\" compares with one table"
              + " (${DEFAULT-VALUE}).")
  private List<Integer> partitions = List.of();

  @Option(
      names = "--retention",
      paramLabel = "SECONDS",
      description =
          "How long records live in \"steady state\", which takes four times as long (30).")
  private Optional<Integer> retention = Optional.empty();

  @Option(
      names = "--quick",
      description =
          "To see that it works: one round of half a second and small tables, numbers of no value.")
  private boolean quick;

  @Option(
      names = "--results",
      defaultValue = "benchmarks/results",
      paramLabel = "DIRECTORY",
      description = "Where the results are written (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  /**
   * Returns the scenarios that were asked for.
   *
   * @param given the options that the command line has
   */
  List<Scenario> chosenOf(List<Scenario> scenarios, Set<String> given) {
    for (String name : only) {
      if (scenarios.stream().noneMatch(scenario -> scenario.name().equals(name))) {
        throw new IllegalArgumentException(
            "no scenario is called %s; there are %s".formatted(name, names(scenarios)));
      }
    }
    if (only.isEmpty()) {
      return scenarios;
    }
    List<Scenario> chosen =
        scenarios.stream().filter(scenario -> only.contains(scenario.name())).toList();
    for (String option : given) {
      chosen.stream()
          .filter(scenario -> !hasEffect(option, scenario))
          .findFirst()
          .ifPresent(
              scenario -> {
                throw new IllegalArgumentException(
                    "%s has no effect on \"%s\"; it has one on: %s"
                        .formatted(
                            option,
                            scenario.name(),
                            names(
                                scenarios.stream()
                                    .filter(other -> hasEffect(option, other))
                                    .toList())));
              });
    }
    return chosen;
  }

  private static boolean hasEffect(String option, Scenario scenario) {
    return OF_THE_RUN.contains(option)
        || (OF_THE_DATABASE.contains(option) && scenario.usesDatabase())
        || scenario.options().contains(option);
  }

  private static String names(List<Scenario> scenarios) {
    return String.join(", ", scenarios.stream().map(Scenario::name).toList());
  }

  Pace pace() {
    return new Pace(
        Duration.ofNanos((long) (positive("--seconds", seconds.orElse(quick ? 0.5 : 2.0)) * 1e9)),
        positive("--rounds", rounds.orElse(quick ? 1 : 9)),
        new Selection(variants),
        concurrency.stream().map(Options::bearable).toList(),
        positive("--keys", liveKeys.orElse(quick ? 50_000 : 5_000_000)),
        quick ? 20_000 : 200_000,
        quick ? 1_000 : 10_000,
        quick ? 1_000 : 10_000,
        Duration.ofSeconds(positive("--retention", retention.orElse(quick ? 2 : 30))),
        positive("--connections", connections),
        positive("--rows", rows.orElse(quick ? 40_000 : 5_000_000)),
        partitions.stream().map(Options::several).toList(),
        Duration.ofNanos(1_000L * positive("--network-micros", networkMicros)));
  }

  DatabaseSettings database() {
    return new DatabaseSettings(
        resourceTypes,
        postgres.map(OptionalInt::of).orElseGet(OptionalInt::empty),
        Map.copyOf(parameters),
        sql.map(Options::read));
  }

  Path results() {
    return results;
  }

  private static int several(int partitions) {
    if (partitions < 2) {
      throw new IllegalArgumentException(
          "--partitions must be at least 2, not %d".formatted(partitions));
    }
    return partitions;
  }

  private static int bearable(int calls) {
    if (positive("--concurrency", calls) > MOST_CALLS) {
      throw new IllegalArgumentException(
          "--concurrency must be at most %d, not %d".formatted(MOST_CALLS, calls));
    }
    return calls;
  }

  private static <T extends Number> T positive(String option, T value) {
    if (value.doubleValue() <= 0) {
      throw new IllegalArgumentException("%s must be more than 0, not %s".formatted(option, value));
    }
    return value;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new IllegalArgumentException("cannot read " + file, failure);
    }
  }
}
