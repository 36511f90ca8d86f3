package io.github.grpcidempotency.event;

/** How a call comes in. */
public enum Entry {
  /** A gRPC call of the procedure itself. */
  CALL,
  /** A piece of work without gRPC. */
  WORK,
  /** A search for the call's outcome through {@code idempotency.v1.Recovery}. */
  RECOVERY,
  /** A question about its operation through {@code google.longrunning.Operations}. */
  OPERATIONS
}
