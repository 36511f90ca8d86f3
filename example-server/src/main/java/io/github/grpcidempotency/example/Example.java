package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.demo.Demo;
import io.github.grpcidempotency.example.run.command.DurationConverter;
import io.github.grpcidempotency.example.run.command.Keys;
import io.github.grpcidempotency.example.run.command.Provide;
import io.github.grpcidempotency.example.run.command.Serve;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;

/** The one program of the example: the demo, the server, the provider, and the tool for keysets. */
@Command(
    name = "example",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    subcommands = {Demo.class, Serve.class, Provide.class, Keys.class},
    description = "Plays the demo, unless a command is given.")
public final class Example implements Callable<Integer> {
  /** Runs the program. */
  public static void main(String... arguments) {
    System.exit(run(arguments));
  }

  /** Returns the exit code: 0 if all is well, 1 if it cannot run, 2 if it was called wrongly. */
  static int run(String... arguments) {
    CommandLine program =
        new CommandLine(new Example())
            .registerConverter(Duration.class, new DurationConverter())
            .setParameterExceptionHandler(Example::explainUsage)
            .setExecutionExceptionHandler(Example::explainFailure);
    program
        .getHelpSectionMap()
        .put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Example::everyCommandInFull);
    return program.execute(arguments);
  }

  private static String everyCommandInFull(Help help) {
    return help.subcommands().values().stream()
        .map(command -> "%n%s".formatted(command.commandSpec().commandLine().getUsageMessage()))
        .collect(Collectors.joining());
  }

  @Override
  public Integer call() {
    return new Demo().call();
  }

  private static int explainUsage(ParameterException failure, String... arguments) {
    CommandLine commandLine = failure.getCommandLine();
    commandLine.getErr().println(failure.getMessage() + "; --help lists the options.");
    return ExitCode.USAGE;
  }

  /** Reports a failure in one sentence instead of a stack trace. */
  private static int explainFailure(
      Exception failure, CommandLine commandLine, ParseResult arguments) throws Exception {
    if (failure instanceof StartupFailure) {
      commandLine.getErr().println(failure.getMessage());
      return ExitCode.SOFTWARE;
    }
    throw failure;
  }
}
