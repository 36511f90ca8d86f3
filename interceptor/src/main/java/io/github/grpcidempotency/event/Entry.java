package io.github.grpcidempotency.event;

/** The way in which a call reaches the library. */
public enum Entry {
  /** A gRPC call of the procedure itself. */
  CALL,
  /** A piece of work without gRPC. */
  WORK,
  /** A request for the call's outcome through {@code idempotency.v1.Recovery}. */
  RECOVERY,
  /** A request about its operation through {@code google.longrunning.Operations}. */
  OPERATIONS
}
