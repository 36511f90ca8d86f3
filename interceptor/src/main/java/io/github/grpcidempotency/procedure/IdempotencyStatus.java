package io.github.grpcidempotency.procedure;

import java.util.Locale;

/** The state of the asynchronous work behind a created resource, as clients see it. */
public enum IdempotencyStatus {
  /** Not done yet, or unknown. */
  PROCESSING,
  /** Done, or there is no asynchronous work. */
  COMPLETED,
  /** Given up. The resource exists, but its asynchronous work was not done. */
  FAILED;

  private final String trailer = name().toLowerCase(Locale.ROOT);

  /** Returns the value of the {@code idempotency-status} trailer. */
  public String trailer() {
    return trailer;
  }
}
