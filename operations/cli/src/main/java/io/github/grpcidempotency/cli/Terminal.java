package io.github.grpcidempotency.cli;

import java.io.Console;
import java.util.Optional;

/** Where a person sits who can be asked. */
interface Terminal {
  /** Asks a question; empty if the person has closed the input. */
  Optional<String> ask(String question);

  /** Asks a question whose answer is not shown while it is typed. */
  Optional<String> askSecretly(String question);

  /** Returns the terminal of this process; empty if its input or output is somewhere else. */
  static Optional<Terminal> ofProcess() {
    return Optional.ofNullable(System.console())
        .filter(Terminal::isInteractive)
        .map(OfConsole::new);
  }

  /** From Java 22 on there is a console without a terminal too, which says so. */
  private static boolean isInteractive(Console console) {
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException olderJava) {
      return true;
    }
  }

  /** A real one. */
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
