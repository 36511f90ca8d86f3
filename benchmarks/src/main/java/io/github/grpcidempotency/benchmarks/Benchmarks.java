package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.scenario.Calls;
import io.github.grpcidempotency.benchmarks.scenario.CostOfCall;
import io.github.grpcidempotency.benchmarks.scenario.InterceptorAlone;
import io.github.grpcidempotency.benchmarks.scenario.LiveKeys;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.RecordSize;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import io.github.grpcidempotency.benchmarks.scenario.Starvation;
import io.github.grpcidempotency.benchmarks.scenario.SteadyState;
import io.github.grpcidempotency.benchmarks.scenario.Storm;
import io.github.grpcidempotency.benchmarks.scenario.Sweep;
import io.github.grpcidempotency.benchmarks.scenario.WaitingCalls;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures what idempotency costs on this machine, and writes it down: {@code mvn -q -pl benchmarks
 * -am compile exec:exec}.
 */
@Command(
    name = "benchmarks",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures what idempotency costs a call, against the bare handler.")
public final class Benchmarks implements Callable<Integer> {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new CostOfCall(),
          new Calls(),
          new Storm(),
          new Starvation(),
          new WaitingCalls(),
          new Sweep(),
          new LiveKeys(),
          new RecordSize(),
          new SteadyState(),
          new InterceptorAlone());

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SCENARIO",
      description =
          "One or more of: cost of a call, calls, storm, starvation, waiting calls, sweep,"
              + " live keys, record size, steady state, interceptor alone. All by default.")
  private List<String> only = SCENARIOS.stream().map(Scenario::name).toList();

  @Option(
      names = "--variants",
      split = ",",
      paramLabel = "WORD",
      description =
          "Compare only the variants whose name contains one of these, in \"calls\" and"
              + " \"cost of a call\".")
  private List<String> variants = List.of();

  @Option(
      names = "--seconds",
      defaultValue = "2",
      description = "How long one variant is measured in one round (${DEFAULT-VALUE}).")
  private int seconds;

  @Option(names = "--rounds", defaultValue = "9", description = "How many (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--calls",
      split = ",",
      defaultValue = "1,16,64",
      description = "How many calls at once (${DEFAULT-VALUE}).")
  private List<Integer> callers = List.of();

  @Option(
      names = "--keys",
      defaultValue = "5000000",
      description = "How many live keys a full table has (${DEFAULT-VALUE}).")
  private int liveKeys;

  @Option(
      names = "--retention",
      defaultValue = "30",
      description =
          "How many seconds records live in \"steady state\", four times as long as that takes"
              + " (${DEFAULT-VALUE}).")
  private int retention;

  @Option(
      names = "--connections",
      defaultValue = "20",
      description = "How many connections the service's pool has (${DEFAULT-VALUE}).")
  private int connections;

  @Option(
      names = "--quick",
      description = "To see that it works: short rounds and small tables, numbers of no value.")
  private boolean quick;

  @Option(
      names = "--results",
      defaultValue = "benchmarks/results",
      description = "Where the results are written (${DEFAULT-VALUE}).")
  private Path results = Path.of("");

  /** Runs the program. */
  public static void main(String... arguments) {
    System.exit(new CommandLine(new Benchmarks()).execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    Report report =
        new Report(
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
    Pace pace =
        quick
            ? new Pace(
                Duration.ofMillis(500),
                1,
                variants,
                callers,
                50_000,
                20_000,
                1_000,
                1_000,
                Duration.ofSeconds(2),
                connections)
            : new Pace(
                Duration.ofSeconds(seconds),
                rounds,
                variants,
                callers,
                liveKeys,
                200_000,
                10_000,
                10_000,
                Duration.ofSeconds(retention),
                connections);
    describe(pace, report);
    for (Scenario scenario : SCENARIOS) {
      if (only.contains(scenario.name())) {
        // A database of its own: no scenario pays for the rows of another.
        try (DurableDatabase database = DurableDatabase.start()) {
          scenario.run(database, pace, report);
        }
        report.print(scenario.name());
        report.write(results, scenario.name());
      }
    }
    report.sumUp();
    return 0;
  }

  private static void describe(Pace pace, Report report) {
    report.circumstance(
        "machine",
        "%d cores, %s, Java %s; clients, server and database share it"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.arch"),
                System.getProperty("java.version")));
    try (DurableDatabase database = DurableDatabase.start()) {
      report.circumstance("database", database.description());
    }
    report.circumstance(
        "pace",
        "%d rounds of %.1f s for each variant; a pool of %d connections"
            .formatted(pace.rounds(), pace.round().toMillis() / 1e3, pace.connections()));
  }
}
