package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.Report;
import java.io.IOException;
import java.io.PrintStream;
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

/** Says what a rate of creates needs; with no rate, from 10 to 1,000,000 a second. */
@Command(
    name = "capacity",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Computes what a rate of creates needs, from the results of the benchmarks. Measures"
            + " nothing.")
public final class CapacityCommand implements Callable<Integer> {
  @Option(
      names = "--creates",
      paramLabel = "RATE",
      description = "Creates a second on average; all rates by default.")
  private Optional<Double> creates = Optional.empty();

  @Option(
      names = "--way",
      defaultValue = "TRANSACTIONAL",
      description = "How creates are run (${DEFAULT-VALUE}): ${COMPLETION-CANDIDATES}.")
  private Way way = Way.TRANSACTIONAL;

  @Option(
      names = "--answer",
      defaultValue = "1024",
      paramLabel = "BYTES",
      description = "The size of a recorded answer, as stored (${DEFAULT-VALUE}).")
  private int answer;

  @Option(
      names = "--retention",
      defaultValue = "PT24H",
      paramLabel = "TIME",
      description = "How long a record lives (${DEFAULT-VALUE}).")
  private Duration retention = Duration.ZERO;

  @Option(
      names = "--cores",
      defaultValue = "32",
      description = "Cores of a primary (${DEFAULT-VALUE}).")
  private double cores;

  @Option(
      names = "--disk-gb",
      defaultValue = "4000",
      paramLabel = "GB",
      description = "What its disk holds (${DEFAULT-VALUE}).")
  private double diskGigabytes;

  @Option(
      names = "--results",
      defaultValue = "benchmarks/results",
      paramLabel = "DIRECTORY",
      description = "Where the results of the benchmarks are (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  @Option(names = "--write", paramLabel = "PAGE", description = "Writes the tables into this page.")
  private Optional<Path> page = Optional.empty();

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException {
    try {
      PrintStream out = Report.console();
      ScalePage tables = page(results);
      if (creates.isPresent()) {
        List<Double> rate = List.of(positive("--creates", creates.get()));
        out.printf("%s%n%s", tables.needs(rate), way.isRecorded() ? tables.upkeep(rate) : "");
      } else {
        tables.tables().forEach((name, table) -> out.printf("%s%n%n%s%n", name, table));
      }
      if (page.isPresent()) {
        Files.writeString(page.get(), tables.in(Files.readString(page.get())));
      }
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
    return 0;
  }

  ScalePage page(Path from) {
    Load load =
        new Load(
            1,
            way,
            (int) positive("--answer", answer),
            Duration.ofSeconds((long) positive("--retention", (double) retention.toSeconds())),
            positive("--cores", cores),
            positive("--disk-gb", diskGigabytes) * 1e9);
    return new ScalePage(new Model(new Measurements(from)), load);
  }

  private static double positive(String option, double value) {
    if (!(value > 0)) {
      throw new IllegalArgumentException("%s must be more than 0, not %s".formatted(option, value));
    }
    return value;
  }
}
