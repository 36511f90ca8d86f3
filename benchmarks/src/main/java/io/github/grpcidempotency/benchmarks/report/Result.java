package io.github.grpcidempotency.benchmarks.report;

import java.util.Optional;

/**
 * One number, as the median of its rounds.
 *
 * @param scenario what was measured
 * @param variant of whom
 * @param calls how many at once; 0 where that says nothing
 * @param metric in which respect; the unit stands in it
 * @param value the median
 * @param least the least of all rounds
 * @param most the most of all rounds
 */
public record Result(
    String scenario,
    String variant,
    int calls,
    String metric,
    double value,
    double least,
    double most) {

  /** Returns the aim that this number is held against, if there is one. */
  public Optional<Aim> aim() {
    return Aim.ALL.stream().filter(aim -> aim.isFor(this)).findFirst();
  }

  /** Returns the median, the extremes, and whether the aim is met. */
  @Override
  public String toString() {
    String spread =
        least == most ? "" : " (" + Numbers.plain(least) + "–" + Numbers.plain(most) + ")";
    String held = aim().map(aim -> (aim.isMetBy(this) ? " ✓ " : " ✗ ") + aim).orElse("");
    return Numbers.plain(value) + spread + held;
  }
}
