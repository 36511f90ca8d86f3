package io.github.grpcidempotency.cli;

import java.io.PrintWriter;
import java.io.StringReader;
import java.util.Map;
import java.util.Optional;

/** The program {@code idempotency}. {@code --help} lists its commands. */
public final class Main {
  private Main() {}

  /** Runs the program, and ends the JVM with its exit code. */
  public static void main(String... arguments) {
    quietLogs();
    System.exit(Program.run(Surroundings.ofProcess(), arguments));
  }

  /**
   * Runs a command in this JVM, for programs and tests that embed it. It never prompts.
   *
   * @param variables the environment variables
   * @param out receives the results
   * @param err receives the messages
   * @return the exit code
   */
  public static int run(
      Map<String, String> variables, PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(
        new Surroundings(variables, new StringReader(""), out, err, Optional.empty()), arguments);
  }

  /**
   * Switches logging off, so that each error is printed once, and only results go to the standard
   * output.
   */
  private static void quietLogs() {
    String level = "org.slf4j.simpleLogger.defaultLogLevel";
    System.setProperty(level, System.getProperty(level, "error"));
  }
}
