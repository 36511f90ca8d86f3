package io.github.grpcidempotency.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Reader;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * The environment of a command, except the database.
 *
 * @param variables the environment variables
 * @param in the standard input
 * @param out for results
 * @param err for messages, prompts and progress
 * @param terminal for prompts; empty in a script
 */
record Surroundings(
    Map<String, String> variables,
    Reader in,
    PrintWriter out,
    PrintWriter err,
    Optional<Terminal> terminal) {
  private static final int DEFAULT_WIDTH = 120;
  private static final int MIN_WIDTH = 80;
  private static final int MAX_WIDTH = 160;

  static Surroundings ofProcess() {
    return new Surroundings(
        System.getenv(),
        new InputStreamReader(System.in, Charset.defaultCharset()),
        utf8(FileDescriptor.out),
        utf8(FileDescriptor.err),
        Terminal.ofProcess());
  }

  /** Writes UTF-8 in every locale, because the output may go to a log. */
  private static PrintWriter utf8(FileDescriptor file) {
    return new PrintWriter(
        new OutputStreamWriter(new FileOutputStream(file), StandardCharsets.UTF_8), true);
  }

  /** Returns an environment variable that is set and not empty. */
  Optional<String> variable(String name) {
    return Optional.ofNullable(variables.get(name)).filter(value -> !value.isEmpty());
  }

  /** Returns the maximum length of a line. */
  int width() {
    return variable("COLUMNS")
        .filter(columns -> columns.matches("[0-9]{1,4}"))
        .map(Integer::parseInt)
        .map(columns -> Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, columns)))
        .orElse(DEFAULT_WIDTH);
  }

  /**
   * Prompts for a word.
   *
   * @throws CommandFailure if the user types another one, or there is no terminal
   */
  void confirm(String question, String word) {
    String typed =
        terminal
            .flatMap(prompt -> prompt.ask(question))
            .orElseThrow(
                () ->
                    new CommandFailure(
                        ExitCode.REFUSED,
                        "there is no terminal for a confirmation: give --yes to go without it"));
    if (!typed.strip().equalsIgnoreCase(word)) {
      throw new CommandFailure(ExitCode.REFUSED, "not confirmed, so nothing was changed");
    }
  }

  /** Returns the given actor, or else the user of this program. */
  String actor(Optional<String> named) {
    return named.or(() -> variable("IDEMPOTENCY_ACTOR")).orElseGet(this::user);
  }

  private String user() {
    return System.getProperty("user.name") + "@" + host();
  }

  private String host() {
    return variable("HOSTNAME")
        .orElseGet(
            () -> {
              try {
                return InetAddress.getLocalHost().getHostName();
              } catch (UnknownHostException nameless) {
                return "localhost";
              }
            });
  }
}
