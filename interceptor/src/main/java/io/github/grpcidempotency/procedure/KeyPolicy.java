package io.github.grpcidempotency.procedure;

/** Whether a procedure's calls carry a key, and who handles it. */
public enum KeyPolicy {
  /** A call may carry a key; without one it passes through untouched. */
  OPTIONAL,
  /** A call without a key is refused, and so is one without a caller. */
  REQUIRED,
  /**
   * The key is required, and does not come from the standard header but from another source, such
   * as a field of the request.
   */
  DERIVED,
  /**
   * The interceptor does not look at the key: the handler deduplicates by itself, with {@link
   * io.github.grpcidempotency.work.IdempotentWork} for instance.
   */
  HANDLER_INTERNAL,
  /** A call with a key is refused, because its client would rely on a retry that is not safe. */
  PROHIBITED
}
