package io.github.grpcidempotency.example.cli;

import io.github.grpcidempotency.example.database.StartupFailure;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;

/** Runs a command, and answers what is wrong with one sentence instead of a stack trace. */
public final class Program {
  private Program() {}

  /** Returns the exit code: 0 if all is well, 1 if it cannot run, 2 if it was called wrongly. */
  public static int run(Callable<Integer> command, String... arguments) {
    return new CommandLine(command)
        .registerConverter(Duration.class, new DurationConverter())
        .setParameterExceptionHandler(Program::explainUsage)
        .setExecutionExceptionHandler(Program::explainFailure)
        .execute(arguments);
  }

  private static int explainUsage(ParameterException failure, String... arguments) {
    CommandLine commandLine = failure.getCommandLine();
    commandLine.getErr().println(failure.getMessage() + "; --help tells what is possible.");
    return ExitCode.USAGE;
  }

  private static int explainFailure(
      Exception failure, CommandLine commandLine, CommandLine.ParseResult arguments)
      throws Exception {
    if (failure instanceof StartupFailure) {
      commandLine.getErr().println(failure.getMessage());
      return ExitCode.SOFTWARE;
    }
    throw failure;
  }
}
