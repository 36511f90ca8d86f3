package io.github.grpcidempotency.benchmarks;

import io.github.grpcidempotency.benchmarks.capacity.CapacityCommand;
import io.github.grpcidempotency.benchmarks.database.DatabaseSettings;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.scenario.Calls;
import io.github.grpcidempotency.benchmarks.scenario.CostOfCall;
import io.github.grpcidempotency.benchmarks.scenario.InterceptorAlone;
import io.github.grpcidempotency.benchmarks.scenario.LargeTables;
import io.github.grpcidempotency.benchmarks.scenario.LiveKeys;
import io.github.grpcidempotency.benchmarks.scenario.LogReplay;
import io.github.grpcidempotency.benchmarks.scenario.Memory;
import io.github.grpcidempotency.benchmarks.scenario.NumbersOfPartitions;
import io.github.grpcidempotency.benchmarks.scenario.Pace;
import io.github.grpcidempotency.benchmarks.scenario.RecordLife;
import io.github.grpcidempotency.benchmarks.scenario.RecordSize;
import io.github.grpcidempotency.benchmarks.scenario.Scenario;
import io.github.grpcidempotency.benchmarks.scenario.Starvation;
import io.github.grpcidempotency.benchmarks.scenario.SteadyState;
import io.github.grpcidempotency.benchmarks.scenario.Storm;
import io.github.grpcidempotency.benchmarks.scenario.Sweep;
import io.github.grpcidempotency.benchmarks.scenario.UpkeepOfLargeTables;
import io.github.grpcidempotency.benchmarks.scenario.WaitingCalls;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures what idempotency costs on this machine, and writes it down: {@code mvn -q -pl benchmarks
 * -am compile exec:exec}.
 */
@Command(
    name = "benchmarks",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    subcommands = CapacityCommand.class,
    description = "Measures what idempotency costs a call, against the bare handler.")
public final class Benchmarks implements Callable<Integer> {
  private static final List<Scenario> SCENARIOS =
      List.of(
          new CostOfCall(),
          Calls.onOneMachine(),
          Calls.acrossNetwork(),
          new Memory(),
          new Storm(),
          new Starvation(),
          new WaitingCalls(),
          new Sweep(),
          new LiveKeys(),
          new RecordSize(),
          new RecordLife(),
          new SteadyState(),
          new LogReplay(),
          new LargeTables(),
          new UpkeepOfLargeTables(),
          new NumbersOfPartitions(),
          new InterceptorAlone());

  @Mixin private Options options = new Options();

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
    List<Scenario> chosen = checked(() -> options.chosenOf(SCENARIOS));
    Pace pace = checked(options::pace);
    DatabaseSettings settings = checked(options::database);
    Report report =
        new Report(
            new PrintStream(
                new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
    describe(pace, report);
    for (Scenario scenario : chosen) {
      // A database of its own: no scenario pays for the rows of another.
      DatabaseSettings own = scenario.canBeKept() ? settings : settings.withoutDirectory();
      try (DurableDatabase database = checked(() -> DurableDatabase.start(own))) {
        report.circumstance("database", database.description());
        scenario.run(database, pace, report);
      }
      report.writeNew(options.results());
    }
    report.sumUp();
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

  private static void describe(Pace pace, Report report) {
    report.circumstance(
        "machine",
        "%d cores, %s, Java %s; clients, server and database share it"
            .formatted(
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.arch"),
                System.getProperty("java.version")));
    report.circumstance(
        "pace",
        "%d rounds of %.1f s for each variant; a pool of %d connections"
            .formatted(pace.rounds(), pace.round().toMillis() / 1e3, pace.connections()));
  }
}
