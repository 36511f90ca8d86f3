package io.github.grpcidempotency.example.run.settings;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads {@code 500ms}, {@code 30s}, {@code 5m}, {@code 24h}, {@code 2d} and ISO 8601. */
public final class Durations {
  private static final Pattern SHORT = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");
  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  private Durations() {}

  /**
   * Reads a duration of zero or more.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static Duration parse(String value) {
    Matcher matcher = SHORT.matcher(value);
    if (matcher.matches()) {
      return Duration.of(Long.parseLong(matcher.group(1)), UNITS.get(matcher.group(2)));
    }
    try {
      Duration duration = Duration.parse(value);
      if (duration.isNegative()) {
        throw new IllegalArgumentException("'%s' is negative".formatted(value));
      }
      return duration;
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException(
          "'%s' is no duration such as 500ms, 30s, 5m, 24h, 2d or PT1H30M".formatted(value), e);
    }
  }

  /**
   * Reads a duration of more than zero.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static Duration positive(String value) {
    Duration duration = parse(value);
    if (duration.isZero()) {
      throw new IllegalArgumentException("'%s' is not more than zero".formatted(value));
    }
    return duration;
  }
}
