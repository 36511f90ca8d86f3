package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.database.DatabaseSettings;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Option;

/** What the command line says. What makes no sense is an {@link IllegalArgumentException}. */
final class Options {
  private static final Set<String> OF_THE_RUN = Set.of("--only", "--quick", "--results");

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SCENARIO",
      description = "Some scenarios; all by default. A wrong name is answered with all names.")
  private List<String> only = List.of();

  @Option(
      names = "--resource-types",
      defaultValue = "8",
      paramLabel = "N",
      description =
          "How many resource types the service registers, from 1 to 8 (${DEFAULT-VALUE}): each is a"
              + " column of a record, with a foreign key and an index.")
  private int resourceTypes;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of PostgreSQL, such as max_locks_per_transaction=256; as often as there are"
              + " some. It must stay durable.")
  private Map<String, String> parameters = new LinkedHashMap<>();

  @Option(
      names = "--results",
      defaultValue = "verification/benchmarks/results",
      paramLabel = "DIRECTORY",
      description = "Where the results are written (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  /**
   * Returns the scenarios that were asked for, if they can be run at this pace.
   *
   * @param given the options that the command line has
   */
  List<Scenario> chosenOf(List<Scenario> scenarios, Set<String> given, Pace pace) {
    pace.check();
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
      for (Scenario scenario : chosen) {
        if (!hasEffect(option, scenario)) {
          List<Scenario> others =
              scenarios.stream().filter(other -> hasEffect(option, other)).toList();
          throw new IllegalArgumentException(
              "%s has no effect on \"%s\"; it has one on: %s"
                  .formatted(option, scenario.name(), names(others)));
        }
      }
    }
    return chosen;
  }

  private static boolean hasEffect(String option, Scenario scenario) {
    return OF_THE_RUN.contains(option) || scenario.options().contains(option);
  }

  private static String names(List<Scenario> scenarios) {
    return String.join(", ", scenarios.stream().map(Scenario::name).toList());
  }

  DatabaseSettings database() {
    return new DatabaseSettings(resourceTypes, Map.copyOf(parameters));
  }

  Path results() {
    return results;
  }
}
