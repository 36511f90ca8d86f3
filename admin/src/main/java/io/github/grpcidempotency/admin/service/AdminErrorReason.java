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
  /** The server's database role lacks a right: {@code FAILED_PRECONDITION}. */
  IDEMPOTENCY_RIGHT_MISSING,
  /** The database cannot be asked: {@code UNAVAILABLE}. */
  IDEMPOTENCY_STORE_UNAVAILABLE
}
