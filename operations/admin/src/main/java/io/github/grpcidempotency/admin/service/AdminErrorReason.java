package io.github.grpcidempotency.admin.service;

/**
 * Why the admin service has answered with an error: the {@code reason} of its {@code
 * google.rpc.ErrorInfo}, in the domain {@code grpc-idempotency}.
 */
public enum AdminErrorReason {
  /** The authorizer refuses: {@code PERMISSION_DENIED}. */
  IDEMPOTENCY_ADMIN_DENIED,
  /** The request is not valid: {@code INVALID_ARGUMENT}, with a {@code BadRequest}. */
  IDEMPOTENCY_ADMIN_REQUEST_INVALID,
  /** There is no such operation: {@code NOT_FOUND}. */
  IDEMPOTENCY_OPERATION_UNKNOWN,
  /** The reservation's owner lives: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OWNER_LIVES,
  /** The outcome is recorded, so there is nothing to free: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OPERATION_RECORDED,
  /** There is no outcome yet, so there is nothing to forget: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OPERATION_UNFINISHED,
  /** A transaction has had it locked for two seconds; look at it again: {@code ABORTED}. */
  IDEMPOTENCY_OPERATION_LOCKED,
  /**
   * The server's database role lacks a right, or its schema is missing or too old: {@code
   * FAILED_PRECONDITION}. The server's log says what to do.
   */
  IDEMPOTENCY_ADMIN_NOT_SET_UP,
  /** The database cannot be reached, or takes no writes: {@code UNAVAILABLE}. */
  IDEMPOTENCY_STORE_UNAVAILABLE
}
