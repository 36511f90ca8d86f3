package io.github.grpcidempotency.procedure;

/** Whether a procedure's calls carry a key, and who handles it. */
public enum KeyPolicy {
  /** A call may have a key. A call without a key passes through unchanged. */
  OPTIONAL,
  /**
   * A call without a key or without a caller is refused. The default for a procedure with {@link
   * ProcedureBuilder#keyFrom another source} than the standard header.
   */
  REQUIRED,
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
