package io.github.grpcidempotency.resource;

/** The status of the asynchronous work behind a created resource. */
public enum IdempotencyStatus {
  /** The work is not done yet, or its status is unknown. */
  PROCESSING,
  /** The work is done, or there is no asynchronous work. */
  COMPLETED,
  /** The work has failed. The resource exists, but its asynchronous work was not done. */
  FAILED
}
