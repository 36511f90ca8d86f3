package io.github.grpcidempotency.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;

/** The program with all its commands. */
@Command(
    name = "idempotency",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Version.class,
    description = "Shows the records of calls and their keys, and frees, forgets or erases them.",
    footer = {
      "",
      "idempotency COMMAND --help explains a command, with examples.",
      "",
      "Exit codes:"
    })
final class Program {
  private static final int HELP_WIDTH = 100;

  /** For picocli, which inherits the options for help and version from here. */
  Program() {}

  /** Runs a command, and returns its exit code. */
  static int run(Surroundings surroundings, String... arguments) {
    int code = commandLine(surroundings).execute(arguments);
    surroundings.out().flush();
    surroundings.err().flush();
    return code;
  }

  static CommandLine commandLine(Surroundings surroundings) {
    CommandLine program = new CommandLine(new Program());
    for (Object command :
        List.of(
            new Show(surroundings),
            new ListOperations(surroundings),
            new Free(surroundings),
            new Forget(surroundings),
            new Erase(surroundings),
            new Stats(surroundings),
            new Work(surroundings),
            new Sweep(surroundings),
            new Audit(surroundings),
            new ServeConsole(surroundings),
            new Check(surroundings),
            new Migrate(surroundings))) {
      program.addSubcommand(command);
    }
    program.registerConverter(Duration.class, new DurationText());
    program.registerConverter(UUID.class, Converters::uuid);
    program.registerConverter(Instant.class, Converters::instant);
    program.setOut(surroundings.out()).setErr(surroundings.err());
    program.setColorScheme(Help.defaultColorScheme(Help.Ansi.OFF));
    program.setUsageHelpWidth(HELP_WIDTH).setUsageHelpAutoWidth(false);
    program.setCaseInsensitiveEnumValuesAllowed(true);
    program.setExpandAtFiles(false); // a key may begin with @
    program.setParameterExceptionHandler(Program::explainUsage);
    program.setExecutionExceptionHandler(Program::explainFailure);
    program.getCommandSpec().usageMessage().footer(footer(program));
    return program;
  }

  private static String[] footer(CommandLine program) {
    return Stream.concat(
            Arrays.stream(program.getCommandSpec().usageMessage().footer()),
            Arrays.stream(ExitCode.values())
                .map(code -> "  %d  %s".formatted(code.code(), code.meaning())))
        .toArray(String[]::new);
  }

  private static int explainUsage(ParameterException failure, String... arguments) {
    CommandLine command = failure.getCommandLine();
    command
        .getErr()
        .println(
            "%s\n%s --help explains it."
                .formatted(failure.getMessage(), command.getCommandSpec().qualifiedName()));
    return ExitCode.USAGE.code();
  }

  private static int explainFailure(Exception failure, CommandLine command, ParseResult arguments) {
    FailureReport report = FailureReport.of(failure);
    command.getOut().flush();
    command
        .getErr()
        .println(
            report
                .message()
                .lines()
                .map(Printable::text)
                .collect(Collectors.joining(System.lineSeparator())));
    return report.exitCode().code();
  }
}
