package io.github.grpcidempotency.key;

/**
 * The caller cannot prove that a key is theirs, for instance because the signature of a webhook is
 * wrong or the webhook is unknown. The message is for the service's own logs and contains no key.
 * The client gets {@code IDEMPOTENCY_CALLER_REQUIRED} without the reason.
 */
public final class UnauthenticatedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnauthenticatedKeyException(String message) {
    super(message);
  }
}
