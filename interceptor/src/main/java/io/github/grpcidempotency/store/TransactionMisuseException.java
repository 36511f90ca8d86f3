package io.github.grpcidempotency.store;

/**
 * A handler has misused its claim's transaction, or has recorded another response than it answered
 * with. The message tells the handler's author what to change.
 */
public final class TransactionMisuseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with what is wrong. */
  public TransactionMisuseException(String message) {
    super(message);
  }
}
