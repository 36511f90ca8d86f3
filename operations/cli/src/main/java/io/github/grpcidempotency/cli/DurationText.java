package io.github.grpcidempotency.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
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
    try {
      Duration parsed = Duration.parse(text.toUpperCase(Locale.ROOT));
      if (!parsed.isNegative()) {
        return parsed;
      }
    } catch (DateTimeParseException malformed) {
      // reported below
    }
    throw new TypeConversionException(
        "'" + text + "' is not a duration such as 90s, 15m, 1h30m, 2d or PT15M");
  }

  private static long number(Matcher parts, int group) {
    String digits = parts.group(group);
    return digits == null ? 0 : Long.parseLong(digits);
  }

  /** Returns the two largest units of a duration. */
  static String text(Duration duration) {
    Duration length = duration.abs();
    Map<String, Long> units = new LinkedHashMap<>();
    units.put("d", length.toDays());
    units.put("h", (long) length.toHoursPart());
    units.put("m", (long) length.toMinutesPart());
    units.put("s", (long) length.toSecondsPart());
    StringBuilder text = new StringBuilder();
    int told = 0;
    for (Map.Entry<String, Long> unit : units.entrySet()) {
      if (told > 0) {
        told++;
      }
      if (unit.getValue() > 0 && told <= 2) {
        told = Math.max(told, 1);
        text.append(unit.getValue()).append(unit.getKey());
      }
    }
    return text.isEmpty() ? "0s" : text.toString();
  }
}
