package io.github.grpcidempotency.procedure;

/** Whether a procedure's calls carry a key, and who looks at it. */
public enum KeyPolicy {
  /** A call may carry a key; without one it passes through untouched. */
  OPTIONAL,
  /** A call without a key is refused, and so is one without a caller. */
  REQUIRED,
  /**
   * The key is required and comes from elsewhere than the standard header: from the request, or
   * from what it says.
   */
  DERIVED,
  /**
   * The interceptor does not look at the key: the handler deduplicates by itself, with {@link
   * io.github.grpcidempotency.work.IdempotentWork} for instance.
   */
  HANDLER_INTERNAL,
  /** A call with a key is refused: its client believes in a retry that would not be safe. */
  PROHIBITED
}
