package io.github.grpcidempotency.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats durations such as {@code 90s}, {@code 1h30m}, {@code 2d}. */
final class DurationText implements ITypeConverter<Duration> {
  private static final Pattern TEXT =
      Pattern.compile("(?:(\\d{1,6})d)?(?:(\\d{1,6})h)?(?:(\\d{1,6})m)?(?:(\\d{1,9})s)?");

  @Override
  public Duration convert(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!text.isEmpty() && parts.matches()) {
      return Duration.ofDays(number(parts, 1))
          .plusHours(number(parts, 2))
          .plusMinutes(number(parts, 3))
          .plusSeconds(number(parts, 4));
    }
    throw new TypeConversionException(
        "'" + text + "' is not a duration such as 90s, 15m, 1h30m or 2d");
  }

  private static long number(Matcher parts, int group) {
    String digits = parts.group(group);
    return digits == null ? 0 : Long.parseLong(digits);
  }

  /** Returns the two largest units of a duration. */
  static String text(Duration duration) {
    Duration length = duration.abs();
    if (length.toDays() > 0) {
      return text(length.toDays(), "d", length.toHoursPart(), "h");
    }
    if (length.toHours() > 0) {
      return text(length.toHours(), "h", length.toMinutesPart(), "m");
    }
    return length.toMinutes() > 0
        ? text(length.toMinutes(), "m", length.toSecondsPart(), "s")
        : length.toSeconds() + "s";
  }

  private static String text(long large, String largeUnit, int small, String smallUnit) {
    return large + largeUnit + (small == 0 ? "" : small + smallUnit);
  }
}
