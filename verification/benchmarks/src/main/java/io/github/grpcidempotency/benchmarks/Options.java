package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.database.DatabaseSettings;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The command line. Invalid values throw an {@link IllegalArgumentException}. */
final class Options {
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

  /** Returns the requested scenarios. */
  List<Scenario> chosenOf(List<Scenario> scenarios, Pace pace) {
    pace.check();
    List<String> names = scenarios.stream().map(Scenario::name).toList();
    for (String name : only) {
      if (!names.contains(name)) {
        throw new IllegalArgumentException(
            "no scenario is called %s; there are %s".formatted(name, String.join(", ", names)));
      }
    }
    pace.checkEffect(only.isEmpty() ? names : only);
    return scenarios.stream()
        .filter(scenario -> only.isEmpty() || only.contains(scenario.name()))
        .toList();
  }

  DatabaseSettings database() {
    return new DatabaseSettings(resourceTypes, Map.copyOf(parameters));
  }

  Path results() {
    return results;
  }
}
