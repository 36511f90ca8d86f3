package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.scenario.Calls;
import io.github.grpcidempotency.benchmarks.scenario.CostOfCall;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures the cost of idempotency on this machine, and writes the results to files: {@code mvn -q
 * -pl verification/benchmarks -am test-compile exec:exec}.
 */
@Command(
    name = "benchmarks",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures the cost of idempotency for a call, compared with the bare handler.")
public final class Benchmarks implements Callable<Integer> {
  static final List<Scenario> SCENARIOS =
      List.of(
          new Scenario("cost of a call", CostOfCall::run),
          new Scenario("calls", Calls::onOneMachine),
          new Scenario("calls across a network", Calls::acrossNetwork));

  @Mixin private Options options = new Options();
  @Mixin private Pace pace = new Pace();

  @Spec private CommandSpec spec = CommandSpec.create();

  /** Runs the program. */
  public static void main(String... arguments) {
    System.exit(
        new CommandLine(new Benchmarks())
            .setParameterExceptionHandler(Benchmarks::complain)
            .execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    List<Scenario> chosen = checked(() -> options.chosenOf(SCENARIOS, pace));
    Report report = new Report();
    describe(report);
    for (Scenario scenario : chosen) {
      report.circumstance(
          "load",
          String.format(
              Locale.ROOT,
              "%.2f on average in the minute before",
              ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
      // A database of its own, so that no scenario is slowed down by the rows of another.
      try (DurableDatabase database = DurableDatabase.start()) {
        report.circumstance("database", database.description());
        scenario.measurement().run(database, pace, report.of(scenario.name()));
      }
      report.writeNew(options.results());
    }
    return 0;
  }

  private <T> T checked(Supplier<T> asked) {
    try {
      return asked.get();
    } catch (IllegalArgumentException wrong) {
      throw new ParameterException(spec.commandLine(), wrong.getMessage(), wrong);
    }
  }

  private static int complain(ParameterException wrong, String[] arguments) {
    System.err.printf("benchmarks: %s%nTry --help.%n", wrong.getMessage());
    return CommandLine.ExitCode.USAGE;
  }

  private void describe(Report report) {
    report.circumstance("commit", commit());
    report.circumstance(
        "machine",
        "%d cores, %s, %s %s; clients, server and database share it"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.arch"),
                System.getProperty("os.name"),
                System.getProperty("os.version")));
    report.circumstance(
        "JDK",
        "%s %s"
            .formatted(
                System.getProperty("java.vm.name"), System.getProperty("java.runtime.version")));
    report.circumstance(
        "pace",
        "%d rounds of %.1f s for each variant; a pool of %d connections"
            .formatted(pace.rounds(), pace.round().toMillis() / 1e3, BenchmarkServer.CONNECTIONS));
  }

  private static String commit() {
    try {
      Process git =
          new ProcessBuilder("git", "describe", "--always", "--dirty", "--abbrev=12")
              .redirectError(Redirect.DISCARD)
              .start();
      String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return commit.isBlank() ? "unknown" : commit.strip();
    } catch (IOException noGit) {
      return "unknown";
    }
  }
}
