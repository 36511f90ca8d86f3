package io.github.grpcidempotency.cli;

import java.io.PrintWriter;
import java.io.StringReader;
import java.util.Map;
import java.util.Optional;

/** The program {@code idempotency}. Its commands are told by {@code --help}. */
public final class Main {
  private Main() {}

  /** Runs the program, and ends the JVM with its exit code. */
  public static void main(String... arguments) {
    quietLogs();
    System.exit(Program.run(Surroundings.ofProcess(), arguments));
  }

  /**
   * Runs a command in this JVM, for programs and tests that embed it. It asks nobody anything.
   *
   * @param variables the environment variables that it sees
   * @param out gets the results
   * @param err gets the messages
   * @return the exit code
   */
  public static int run(
      Map<String, String> variables, PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(
        new Surroundings(variables, new StringReader(""), out, err, Optional.empty()), arguments);
  }

  /** Results are on the standard output, and what goes wrong is said once. */
  private static void quietLogs() {
    String level = "org.slf4j.simpleLogger.defaultLogLevel";
    System.setProperty(level, System.getProperty(level, "error"));
  }
}
