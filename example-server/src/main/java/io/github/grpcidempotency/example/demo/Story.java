package io.github.grpcidempotency.example.demo;

import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.example.service.background.Repeating;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Help.Ansi;

/** Prints the steps, in colour on a terminal, and records which scenes hold. */
final class Story {
  private static final Duration DOT = Duration.ofMillis(500);

  private final PrintStream out;
  private final List<String> shown = new ArrayList<>();
  private boolean holds = true;
  private int broken;

  Story(PrintStream out) {
    this.out = out;
  }

  void play(Scene scene, Stage stage) throws Exception {
    int number = shown.size() + 1;
    print("\n@|bold %d. %s|@\n".formatted(number, scene.title()));
    holds = true;
    scene.play(stage, this);
    broken += holds ? 0 : 1;
    shown.add("   %s %d. %s\n".formatted(mark(holds), number, scene.guarantee()));
  }

  /** Prints the call, makes it, and prints the answer. */
  Answer call(Backend server, String what, Supplier<Answer> call) {
    sent(server, what);
    return cameBack(server, call.get());
  }

  void sent(Object server, String what) {
    step("cyan", "-> " + server, what);
  }

  Answer cameBack(Object server, Answer answer) {
    step(answer.isOk() ? "green" : "yellow", "<- " + server, answer.summary());
    answer.details().forEach(line -> step("faint", "", line));
    return answer;
  }

  void note(String what) {
    step("faint", "..", what);
  }

  void killed(Backend server) {
    step("bold,red", "!!", "kill -9 %d, which is server %s".formatted(server.pid(), server));
  }

  /** Prints a dot every half second while something runs. */
  <T> T await(String what, Supplier<T> result) {
    print("   @|faint ..|@    %s ".formatted(what));
    Repeating dots = Repeating.start("dots", DOT, () -> print("."));
    try {
      return result.get();
    } finally {
      dots.close();
      print("\n");
    }
  }

  /** Prints the rows that a scene has found in the database. */
  void rows(List<Row> rows) {
    step("bold", "rows", rows.stream().map(Row::toString).collect(joining(", ")));
    expect("these are the rows", rows.stream().allMatch(Row::isExpected));
  }

  /** Prints an expectation only if it is broken. */
  void expect(String what, boolean holds) {
    if (!holds) {
      step("bold,red", "[BROKEN]", what);
      this.holds = false;
    }
  }

  /** Prints a summary, and returns whether every scene held. */
  boolean end() {
    print("\n@|bold What the scenes have shown|@\n");
    shown.forEach(this::print);
    print(broken == 0 ? "\nAll of it held.\n" : "\nBROKEN: %d scenes.\n".formatted(broken));
    return broken == 0;
  }

  private static String mark(boolean holds) {
    return holds ? "@|bold,green [ok]|@" : "@|bold,red [BROKEN]|@";
  }

  private void step(String style, String sign, String what) {
    print("   @|%s %-4s|@  %s\n".formatted(style, sign, what));
  }

  private void print(String markup) {
    out.print(Ansi.AUTO.string(markup));
    out.flush();
  }
}
