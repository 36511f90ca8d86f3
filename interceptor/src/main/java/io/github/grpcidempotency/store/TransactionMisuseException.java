package io.github.grpcidempotency.store;

/**
 * A handler has misused its claim's transaction, or completed its claim otherwise than it answered.
 * The message is for the handler's author, and says what to change.
 */
public final class TransactionMisuseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with what is wrong. */
  public TransactionMisuseException(String message) {
    super(message);
  }
}
