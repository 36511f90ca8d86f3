package io.github.grpcidempotency.admin.console;

import static j2html.TagCreator.each;
import static j2html.TagCreator.small;
import static j2html.TagCreator.text;

import io.github.grpcidempotency.admin.OperationState;
import j2html.TagCreator;
import j2html.tags.DomContent;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Formats numbers, durations, times and states for the console. */
final class Words {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final String[] SIZES = {"bytes", "KiB", "MiB", "GiB", "TiB"};

  private Words() {}

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  static String size(long bytes) {
    double size = bytes;
    int unit = 0;
    while (size >= 1_024 && unit < SIZES.length - 1) {
      size /= 1_024;
      unit++;
    }
    return String.format(
        Locale.ROOT, size < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", size, SIZES[unit]);
  }

  /** Returns the two largest units of a duration, such as {@code 2 h 5 min}. */
  static String span(Duration duration) {
    Duration span = duration.abs();
    if (span.toDays() > 0) {
      return join(span.toDays(), "d", span.toHoursPart(), "h");
    }
    if (span.toHours() > 0) {
      return join(span.toHours(), "h", span.toMinutesPart(), "min");
    }
    if (span.toMinutes() > 0) {
      return join(span.toMinutes(), "min", span.toSecondsPart(), "s");
    }
    return span.toSeconds() + " s";
  }

  private static String join(long large, String largeUnit, int small, String smallUnit) {
    return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }

  /** Returns a time, relative to another time. */
  static DomContent time(Instant time, Instant now) {
    Duration since = Duration.between(time, now);
    String distance = since.isNegative() ? "in " + span(since) : span(since) + " ago";
    return each(stamp(time), text(" "), small("(" + distance + ")"));
  }

  static DomContent stamp(Instant time) {
    return TagCreator.time(TIME.format(time)).attr("datetime", time.toString());
  }

  static String state(OperationState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
