package io.github.grpcidempotency.admin.service;

/**
 * The reasons for an error of the admin service: the {@code reason} of the {@code
 * google.rpc.ErrorInfo}, in the domain {@code grpc-idempotency}.
 */
public enum AdminErrorReason {
  /** The authorizer has refused the action: {@code PERMISSION_DENIED}. */
  IDEMPOTENCY_ADMIN_DENIED,
  /** The request is not valid: {@code INVALID_ARGUMENT}, with a {@code BadRequest}. */
  IDEMPOTENCY_ADMIN_REQUEST_INVALID,
  /** There is no such operation: {@code NOT_FOUND}. */
  IDEMPOTENCY_OPERATION_UNKNOWN,
  /** The reservation's lease has not ended: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OWNER_LIVES,
  /** The outcome is recorded, so there is nothing to free: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OPERATION_RECORDED,
  /** There is no outcome yet, so there is nothing to forget: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_OPERATION_UNFINISHED,
  /**
   * A transaction has locked the operation for two seconds: {@code ABORTED}. Read the operation
   * again.
   */
  IDEMPOTENCY_OPERATION_LOCKED,
  /**
   * The server's database role lacks a right, or the schema is missing or too old: {@code
   * FAILED_PRECONDITION}. The server's log contains the remedy.
   */
  IDEMPOTENCY_ADMIN_NOT_SET_UP,
  /** The database cannot be reached, or accepts no writes: {@code UNAVAILABLE}. */
  IDEMPOTENCY_STORE_UNAVAILABLE
}
