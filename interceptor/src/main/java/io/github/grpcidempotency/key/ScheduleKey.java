package io.github.grpcidempotency.key;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The deterministic key of one run of a scheduled job: {@code sched:{id}:{instant}}, with the
 * instant at which the run was due, in UTC (RFC 3339). A run is one operation, even if several
 * schedulers start it, or one scheduler starts it several times.
 */
public final class ScheduleKey {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9._~-]{1,128}");
  private static final Pattern KEY = Pattern.compile("sched:([^:]+):(.+)");

  private ScheduleKey() {}

  /**
   * Returns the key of a run, which the scheduler's client sends.
   *
   * @param id the id of the schedule
   * @param due when the run was due, not when it was started
   * @throws IllegalArgumentException if the id is not 1 to 128 characters of {@code
   *     [A-Za-z0-9._~-]}
   */
  public static String of(String id, Instant due) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "a schedule's id must have 1 to 128 characters of [A-Za-z0-9._~-], not \"" + id + "\"");
    }
    return "sched:" + id + ":" + due;
  }

  static Optional<String> canonicalize(String raw) {
    Matcher key = KEY.matcher(raw);
    if (!key.matches() || !ID.matcher(key.group(1)).matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(of(key.group(1), Instant.parse(key.group(2))));
    } catch (DateTimeException noInstant) {
      return Optional.empty();
    }
  }
}
