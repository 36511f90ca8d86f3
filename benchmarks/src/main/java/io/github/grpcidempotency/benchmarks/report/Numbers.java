package io.github.grpcidempotency.benchmarks.report;

import java.util.Locale;

/** Numbers with as many digits as they deserve. */
final class Numbers {
  private Numbers() {}

  static String plain(double value) {
    double size = Math.abs(value);
    String format =
        size >= 100 || value == Math.rint(value) ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }
}
