package io.github.grpcidempotency.admin;

/** In which state a recorded operation is, by the database's clock. */
public enum OperationState {
  /** Its handler runs: its lease lives, and somebody renews it. */
  RUNNING,
  /** Its lease has ended without an outcome: the next retry of the same request takes it over. */
  STUCK,
  /** Its handler has ended, and it is not known whether its effect happened. */
  UNKNOWN,
  /** Its response is recorded. */
  COMPLETED,
  /** Its error is recorded. */
  FAILED,
  /** It has expired, and is not yet swept: it counts as absent. */
  EXPIRED
}
