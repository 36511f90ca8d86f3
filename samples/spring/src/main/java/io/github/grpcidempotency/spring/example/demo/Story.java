package io.github.grpcidempotency.spring.example.demo;

import java.io.PrintStream;

/** Prints the steps, and records whether every expectation holds. */
final class Story {
  private final PrintStream out;
  private int held;
  private int broken;

  Story(PrintStream out) {
    this.out = out;
  }

  void chapter(String title) {
    out.printf("%n%s%n", title);
  }

  void sent(String call) {
    out.println("  ->   " + brief(call));
  }

  void cameBack(String answer) {
    out.println("  <-   " + brief(answer));
  }

  /** Shortens the UUIDs of a text. */
  private static String brief(String text) {
    return text.replaceAll("([0-9a-f]{4})[0-9a-f-]{28}([0-9a-f]{4})", "$1..$2");
  }

  void expect(String claim, boolean holds) {
    out.printf("  %s %s%n", holds ? "[ok]" : "[BROKEN]", claim);
    if (holds) {
      held++;
    } else {
      broken++;
    }
  }

  /** Prints a summary, and returns whether every expectation held. */
  boolean end() {
    out.printf(
        "%n%s: %d of %d held.%n", broken == 0 ? "All is well" : "BROKEN", held, held + broken);
    return broken == 0;
  }
}
