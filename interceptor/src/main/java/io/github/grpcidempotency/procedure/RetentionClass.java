package io.github.grpcidempotency.procedure;

import java.time.Duration;
import java.util.regex.Pattern;

/**
 * A retention with a name, which options in a {@code .proto} can use. There are three presets. A
 * service can define others, and passes them in {@link RetentionClasses}.
 *
 * @param name 1 to 63 characters of {@code [a-z0-9_-]}, beginning with a letter * @param duration
 *     from a millisecond to 36,500 days
 */
public record RetentionClass(String name, Duration duration) {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,62}");

  /** 24 hours, for calls whose client waits for the answer. */
  public static final RetentionClass INTERACTIVE =
      new RetentionClass("interactive", Duration.ofHours(24));

  /** 7 days, for webhooks whose provider repeats a delivery for days. */
  public static final RetentionClass WEBHOOK = new RetentionClass("webhook", Duration.ofDays(7));

  /** 30 days, for payments. */
  public static final RetentionClass FINANCIAL =
      new RetentionClass("financial", Duration.ofDays(30));

  /**
   * Checks name and duration.
   *
   * @throws IllegalArgumentException if one of them is not valid
   */
  public RetentionClass {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          ("the name of a retention class must have 1 to 63 characters of [a-z0-9_-] and begin"
                  + " with a letter, not \"%s\"")
              .formatted(name));
    }
    Retention.problem(duration)
        .ifPresent(
            problem -> {
              throw new IllegalArgumentException(
                  "the retention class \"%s\": %s".formatted(name, problem));
            });
  }
}
