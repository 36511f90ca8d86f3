package io.github.grpcidempotency.benchmarks.report;

import java.util.Locale;

/**
 * One number, as the median of its rounds.
 *
 * @param scenario the scenario
 * @param variant the variant
 * @param calls the number of concurrent calls; 0 if it does not matter
 * @param metric the metric, with its unit
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

  /** Returns the median and the extremes. */
  @Override
  public String toString() {
    String spread = least == most ? "" : " (" + plain(least) + "–" + plain(most) + ")";
    return plain(value) + spread;
  }

  /** Formats a number with a sensible number of digits. */
  static String plain(double value) {
    double size = Math.abs(value);
    String format =
        size >= 100 || value == Math.rint(value) ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
