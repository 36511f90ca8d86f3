package io.github.grpcidempotency.benchmarks.capacity;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Bytes and times, as people write them. */
final class Quantity {
  private static final List<String> BYTES = List.of("B", "kB", "MB", "GB", "TB", "PB", "EB");
  private static final Pattern WRITTEN = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([a-zA-Z]*)");

  private Quantity() {}

  /** Reads {@code 1KiB}, {@code 4TB}, or a number of bytes. */
  static double bytes(String text) {
    Matcher parts = parts(text, "bytes, such as 1024, 1KiB or 4TB");
    double number = Double.parseDouble(parts.group(1));
    String unit = parts.group(2);
    if (unit.equals("KiB")) {
      return number * 1_024;
    }
    int power = unit.isEmpty() ? 0 : BYTES.indexOf(unit.equals("KB") ? "kB" : unit);
    if (power < 0) {
      throw new IllegalArgumentException("no unit of bytes: %s".formatted(text));
    }
    return number * Math.pow(1_000, power);
  }

  /** Reads {@code 30s}, {@code 15m}, {@code 12h} or {@code 7d}. */
  static Duration time(String text) {
    Matcher parts = parts(text, "a time, such as 30s, 15m, 12h or 7d");
    double number = Double.parseDouble(parts.group(1));
    return Duration.ofMillis(
        Math.round(
            number
                * switch (parts.group(2)) {
                  case "s" -> 1_000.0;
                  case "m" -> 60_000.0;
                  case "h" -> 3_600_000.0;
                  case "d" -> 86_400_000.0;
                  default ->
                      throw new IllegalArgumentException(
                          "no time, such as 30s, 15m, 12h or 7d: %s".formatted(text));
                }));
  }

  private static Matcher parts(String text, String expected) {
    Matcher parts = WRITTEN.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("not %s: %s".formatted(expected, text));
    }
    return parts;
  }

  /** Writes bytes with two digits that count. */
  static String ofBytes(double bytes) {
    int power = 0;
    double number = bytes;
    while (rounded(number) >= 1_000 && power < BYTES.size() - 1) {
      number /= 1_000;
      power++;
    }
    return of(number) + " " + BYTES.get(power);
  }

  /** Writes a time in a unit that leaves few digits. */
  static String ofSeconds(double seconds) {
    if (seconds >= 2 * 365.25 * 86_400) {
      return of(seconds / 365.25 / 86_400) + " years";
    }
    if (seconds >= 2 * 86_400) {
      return of(seconds / 86_400) + " days";
    }
    if (seconds >= 3_600) {
      return of(seconds / 3_600) + " h";
    }
    return seconds >= 120 ? of(seconds / 60) + " min" : of(seconds) + " s";
  }

  /** Writes a number with two digits that count, or all that it has before its point. */
  static String of(double number) {
    double rounded = rounded(number);
    if (rounded == 0 || rounded >= 10) {
      return String.format(Locale.ROOT, "%,.0f", rounded);
    }
    int digits = 1 - (int) Math.floor(Math.log10(rounded));
    String text = String.format(Locale.ROOT, "%." + Math.min(digits, 4) + "f", rounded);
    return text.replaceFirst("\\.?0+$", "");
  }

  /** Returns the number with two digits that count. */
  static double rounded(double number) {
    if (number == 0) {
      return 0;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(number)) - 1);
    return Math.rint(number / unit) * unit;
  }
}
