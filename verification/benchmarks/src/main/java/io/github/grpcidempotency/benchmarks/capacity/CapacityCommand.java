package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Computes the resources for a rate of creates; without a rate, from 10 to 1,000,000 a second. */
@Command(
    name = "capacity",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Computes the resources that a rate of creates needs, from the results of the"
            + " benchmarks. Measures nothing.")
public final class CapacityCommand implements Callable<Integer> {
  @Option(names = "--creates", description = "Creates per second on average; all rates by default.")
  private Optional<Double> creates = Optional.empty();

  @Option(
      names = "--answer",
      defaultValue = "1024",
      description = "The size of a recorded answer in bytes, as stored (${DEFAULT-VALUE}).")
  private int answer;

  @Option(
      names = "--retention",
      defaultValue = "PT24H",
      description = "The retention of a record (${DEFAULT-VALUE}).")
  private Duration retention = Duration.ZERO;

  @Option(names = "--write", description = "A page to write the tables into.")
  private Optional<Path> page = Optional.empty();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException {
    try {
      ScalePage tables = page(Path.of("verification", "benchmarks", "results"));
      if (page.isPresent()) {
        Files.writeString(page.get(), tables.in(Files.readString(page.get())));
      } else if (creates.isPresent()) {
        Report.console().print(tables.needs(List.of(positive("--creates", creates.get()))));
      } else {
        tables
            .tables()
            .forEach((name, table) -> Report.console().printf("%s%n%n%s%n", name, table));
      }
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
    return 0;
  }

  ScalePage page(Path results) {
    int bytes = (int) positive("--answer", answer);
    double seconds = positive("--retention", (double) retention.toSeconds());
    Load load = new Load(1, Variant.TRANSACTIONAL, bytes, Duration.ofSeconds((long) seconds));
    return new ScalePage(new Model(new Measurements(results)), load);
  }

  private static double positive(String option, double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException("%s must be more than 0, not %s".formatted(option, value));
    }
    return value;
  }
}
