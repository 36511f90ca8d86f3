package io.github.grpcidempotency.procedure;

import java.time.Duration;

/** How long records of a kind answer retries, by custom. */
public enum RetentionClass {
  /** A person or a program waits for the answer: 24 hours. */
  INTERACTIVE(Duration.ofHours(24)),
  /** A provider delivers again for days: 7 days. */
  WEBHOOK(Duration.ofDays(7)),
  /** Money moves: 30 days. */
  FINANCIAL(Duration.ofDays(30));

  private final Duration duration;

  RetentionClass(Duration duration) {
    this.duration = duration;
  }

  /** Returns how long. */
  public Duration duration() {
    return duration;
  }
}
