package io.github.grpcidempotency.store;

/**
 * A handler has misused its claim's transaction, or has answered with another response than it has
 * recorded. The message tells the handler's author what to change.
 */
public final class TransactionMisuseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with what is wrong. */
  public TransactionMisuseException(String message) {
    super(message);
  }
}
