package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.demo.Demo;
import io.github.grpcidempotency.example.run.Keys;
import io.github.grpcidempotency.example.run.Serve;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ScopeType;

/** The program of the example: the demo, the server, and the tool for keysets. */
@Command(
    name = "example",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    subcommands = {Demo.class, Serve.class, Keys.class},
    description = "Runs the demo, unless a command is given.")
public final class Example implements Callable<Integer> {

  /** Runs the program. */
  public static void main(String... arguments) {
    System.exit(run(arguments));
  }

  /**
   * Returns the exit code: 0 on success, 1 if the program cannot run, 2 if the command line is
   * wrong.
   */
  static int run(String... arguments) {
    return new CommandLine(new Example())
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              command.getErr().println(failure); // the library lists every problem
              return ExitCode.SOFTWARE;
            })
        .execute(arguments);
  }

  @Override
  public Integer call() throws Exception {
    return new Demo().call();
  }
}
