package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import java.nio.file.Path;
import java.util.List;
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

  Path results() {
    return results;
  }
}
