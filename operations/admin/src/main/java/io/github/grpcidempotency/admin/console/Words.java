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

  /** The explanation of a lease that has ended after an unknown outcome. */
  static final String STUCK_AND_UNKNOWN =
      "The handler ended with an unknown outcome, and the lease has ended too. The next"
          + " retry of the same request runs the handler again. First look in your own data for"
          + " the effect: if the effect happened, that retry causes a second one.";

  /** The explanation of a lease that ends too late. */
  static final String LEASE_AHEAD =
      "The lease ends later than a server can have set it, because the"
          + " database's clock went back. Retries are refused until the lease ends. A server that"
          + " is alive renews its lease within seconds, so reload this page after a minute. If the"
          + " lease has not changed, nobody renews it, and you can free the operation. First look"
          + " in your own data for the effect.";

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

  /** Returns a time. */
  static DomContent stamp(Instant time) {
    return TagCreator.time(TIME.format(time)).attr("datetime", time.toString());
  }

  static String state(OperationState state) {
    return switch (state) {
      case RUNNING -> "running";
      case STUCK -> "stuck";
      case UNKNOWN -> "unknown";
      case COMPLETED -> "completed";
      case FAILED -> "failed";
      case EXPIRED -> "expired";
    };
  }

  static String meaning(OperationState state) {
    return switch (state) {
      case RUNNING ->
          "A server is running the handler and renews its lease. Retries wait, or are refused"
              + " because the call is in progress. No action is needed, unless you know that the"
              + " server is gone.";
      case STUCK ->
          "The lease has ended without an outcome: the server has crashed, or has lost its"
              + " connection to the database and may still be running the handler. The next retry"
              + " of the same request takes the operation over. Free it if no such retry can come,"
              + " because the client sends another request with this key. First look in your own"
              + " data for the effect.";
      case UNKNOWN ->
          "The handler has ended with an unknown outcome. Retries are refused until the lease"
              + " ends. Before you free the operation, look in your own data for the effect: if the"
              + " effect happened, a retry causes a second one.";
      case COMPLETED ->
          "The response is recorded, and every retry gets it. If it is forgotten, the next call"
              + " with this key runs the handler again, and may cause a second effect.";
      case FAILED ->
          "The error is recorded, and every retry gets it. If it is forgotten, the next call"
              + " with this key runs the handler again.";
      case EXPIRED ->
          "The record has expired and counts as absent: the next call with this key runs the"
              + " handler. The sweeper will delete the record.";
    };
  }
}
