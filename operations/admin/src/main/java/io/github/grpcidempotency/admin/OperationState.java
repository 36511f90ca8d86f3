package io.github.grpcidempotency.admin;

import java.util.Locale;

/**
 * In which state a recorded operation is, by the database's clock: what a retry of it would meet.
 */
public enum OperationState {
  /** Its lease lives: its handler runs, or its answer is about to be recorded. */
  RUNNING,
  /** Its lease has ended without an outcome: the next retry of the same request takes it over. */
  STUCK,
  /**
   * Its handler has ended, it is not known whether its effect happened, and its lease has not ended
   * yet: retries are refused until then.
   */
  UNKNOWN,
  /** Its response is recorded. */
  COMPLETED,
  /** Its error is recorded. */
  FAILED,
  /** It has expired, and is not yet swept: it counts as absent. */
  EXPIRED;

  /** Returns whether there is a reservation without an outcome. */
  public boolean isInFlight() {
    return this == RUNNING || this == STUCK || this == UNKNOWN;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
