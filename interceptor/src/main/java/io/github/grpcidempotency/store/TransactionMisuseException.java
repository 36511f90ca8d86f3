package io.github.grpcidempotency.store;

/**
 * A handler has used its claim's transaction in a way that is not allowed, or has answered with
 * another response than it has recorded. The message describes what the author of the handler has
 * to change.
 */
public final class TransactionMisuseException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TransactionMisuseException(String message) {
    super(message);
  }
}
