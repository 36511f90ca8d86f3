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

/** The command line. Invalid values throw an {@link IllegalArgumentException}. */
final class Options {
  private static final Set<String> OF_THE_RUN = Set.of("--only", "--quick", "--results");

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SCENARIO",
      description = "Some scenarios; all by default. A wrong name prints all names.")
  private List<String> only = List.of();

  @Option(
      names = "--resource-types",
      defaultValue = "8",
      paramLabel = "N",
      description =
          "The number of resource types of the service, from 1 to 8 (${DEFAULT-VALUE}). Each is"
              + " a column of a record, with a foreign key and an index.")
  private int resourceTypes;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of PostgreSQL, such as max_locks_per_transaction=256; can be repeated."
              + " Durability cannot be switched off.")
  private Map<String, String> parameters = new LinkedHashMap<>();

  @Option(
      names = "--results",
      defaultValue = "verification/benchmarks/results",
      paramLabel = "DIRECTORY",
      description = "The folder for the results (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  /**
   * Returns the requested scenarios, if they can be run with these settings.
   *
   * @param given the options on the command line
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
