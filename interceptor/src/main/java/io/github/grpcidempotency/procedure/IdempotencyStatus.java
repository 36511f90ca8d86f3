package io.github.grpcidempotency.procedure;

import java.util.Locale;

/** How far the asynchronous work behind a created resource has come. Clients see nothing else. */
public enum IdempotencyStatus {
  /** Not done yet, or not known. */
  PROCESSING,
  /** Done, or there was none. */
  COMPLETED,
  /** Given up; the resource exists but its asynchronous work does not. */
  FAILED;

  private final String trailer = name().toLowerCase(Locale.ROOT);

  /** Returns the value of the {@code idempotency-status} trailer. */
  public String trailer() {
    return trailer;
  }
}
