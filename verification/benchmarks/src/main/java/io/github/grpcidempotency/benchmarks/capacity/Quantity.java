package io.github.grpcidempotency.benchmarks.capacity;

import java.util.List;
import java.util.Locale;

/** Formats numbers with two significant digits. */
final class Quantity {
  private static final List<String> BYTES = List.of("B", "kB", "MB", "GB", "TB", "PB", "EB");

  private Quantity() {}

  static String ofBytes(double bytes) {
    int power = 0;
    double number = bytes;
    while (rounded(number) >= 1_000 && power < BYTES.size() - 1) {
      number /= 1_000;
      power++;
    }
    return of(number) + " " + BYTES.get(power);
  }

  /** Formats a time in a unit that needs few digits. */
  static String ofSeconds(double seconds) {
    if (seconds >= 2 * 86_400) {
      return of(seconds / 86_400) + " days";
    }
    if (seconds >= 3_600) {
      return of(seconds / 3_600) + " h";
    }
    return seconds >= 120 ? of(seconds / 60) + " min" : of(seconds) + " s";
  }

  static String of(double number) {
    double rounded = rounded(number);
    if (rounded == 0 || rounded >= 10) {
      return String.format(Locale.ROOT, "%,.0f", rounded);
    }
    int digits = 1 - (int) Math.floor(Math.log10(rounded));
    String text = String.format(Locale.ROOT, "%." + Math.min(digits, 4) + "f", rounded);
    return text.replaceFirst("\\.?0+$", "");
  }

  static String percent(double share) {
    return share > 0 && share < 0.001 ? "< 0.1 %" : of(share * 100) + " %";
  }

  private static double rounded(double number) {
    if (number == 0) {
      return 0;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(number)) - 1);
    return Math.rint(number / unit) * unit;
  }
}
