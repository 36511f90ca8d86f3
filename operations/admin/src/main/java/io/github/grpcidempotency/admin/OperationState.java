package io.github.grpcidempotency.admin;

import java.util.Locale;

/** The state of a recorded operation, by the database's clock. It decides the result of a retry. */
public enum OperationState {
  /** The lease has not ended: the handler is running, or its answer is about to be recorded. */
  RUNNING,
  /**
   * The lease has ended without an outcome: the next retry of the same request takes the operation
   * over. Or the lease {@linkplain OperationRecord#leaseIsAhead is ahead} of the database's clock.
   */
  STUCK,
  /**
   * The handler has ended with an unknown outcome, and the lease has not ended yet. Retries are
   * refused until then.
   */
  UNKNOWN,
  /** The response is recorded. */
  COMPLETED,
  /** The error is recorded. */
  FAILED,
  /** The record has expired but is not swept yet. It counts as absent. */
  EXPIRED;

  /** Returns whether there is a reservation without an outcome. */
  public boolean isInFlight() {
    return this == RUNNING || this == STUCK || this == UNKNOWN;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
