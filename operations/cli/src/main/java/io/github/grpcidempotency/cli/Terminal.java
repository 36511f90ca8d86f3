package io.github.grpcidempotency.cli;

import java.io.Console;
import java.util.Optional;

/** A terminal for prompts. */
interface Terminal {
  /** Prompts for an answer; empty if the input is closed. */
  Optional<String> ask(String question);

  /** Prompts for an answer that is not shown while it is typed. */
  Optional<String> askSecretly(String question);

  /** Returns the terminal of this process; empty if its input or output is redirected. */
  static Optional<Terminal> ofProcess() {
    return Optional.ofNullable(System.console())
        .filter(Terminal::isInteractive)
        .map(OfConsole::new);
  }

  /**
   * Returns whether there is a terminal. From Java 22 on, a console exists without a terminal, and
   * reports this.
   */
  private static boolean isInteractive(Console console) {
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException olderJava) {
      return true;
    }
  }

  /** The console of this process. */
  record OfConsole(Console console) implements Terminal {
    @Override
    public Optional<String> ask(String question) {
      return Optional.ofNullable(console.readLine("%s", question));
    }

    @Override
    public Optional<String> askSecretly(String question) {
      return Optional.ofNullable(console.readPassword("%s", question)).map(String::new);
    }
  }
}
