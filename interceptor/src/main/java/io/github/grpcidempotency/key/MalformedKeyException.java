package io.github.grpcidempotency.key;

/**
 * A key is there and is not as it should be. The message is for logs of the service's own and
 * carries no key; the client is told {@code IDEMPOTENCY_KEY_INVALID}.
 */
public final class MalformedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with what is wrong. */
  public MalformedKeyException(String message) {
    super(message);
  }
}
