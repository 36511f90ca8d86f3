package io.github.grpcidempotency.procedure;

/** Whether a procedure's calls carry a key, and who handles it. */
public enum KeyPolicy {
  /** A call may have a key. A call without a key passes through unchanged. */
  OPTIONAL,
  /** A call without a key or without a caller is refused. */
  REQUIRED,
  /**
   * The key is required. It does not come from the standard header but from another source, such as
   * a field of the request.
   */
  DERIVED,
  /**
   * The interceptor does not look at the key: the handler deduplicates by itself, for example with
   * {@link io.github.grpcidempotency.work.IdempotentWork}.
   */
  HANDLER_INTERNAL,
  /**
   * A call with a key is refused, because its client expects safe retries and the method does not
   * support them.
   */
  PROHIBITED
}
