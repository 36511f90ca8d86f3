package io.github.grpcidempotency.example.demo;

import java.io.PrintStream;
import java.util.function.Supplier;

/** Prints the steps, and records whether every expectation holds. */
final class Story {
  private final PrintStream out;
  private int chapters;
  private int held;
  private int broken;

  Story(PrintStream out) {
    this.out = out;
  }

  void chapter(String title) {
    chapters++;
    out.printf("%n%d. %s%n", chapters, title);
  }

  /** Prints a description, makes the call, and prints the result. */
  Answer call(String what, Supplier<Answer> call) {
    sent(what);
    Answer answer = call.get();
    cameBack(answer);
    return answer;
  }

  void sent(String call) {
    out.println("   -> " + call);
  }

  void cameBack(Object answer) {
    out.println("   <- " + answer);
  }

  /** Expects the database to hold a number of rows. */
  void counted(int expected, int actual, String what) {
    expect("the database holds %d %s".formatted(actual, what), actual == expected);
  }

  void expect(String claim, boolean holds) {
    out.printf("   %s %s%n", holds ? "[ok]    " : "[BROKEN]", claim);
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
