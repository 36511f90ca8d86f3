package io.github.grpcidempotency.key;

/**
 * A key is there, and its sender has not proved to be the one whose key it is: the signature of a
 * webhook is wrong, or there is no such webhook. The message is for logs of the service's own and
 * carries no key; the client is told {@code IDEMPOTENCY_CALLER_REQUIRED}, the same for whatever was
 * wrong.
 */
public final class UnauthenticatedKeyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with what is wrong. */
  public UnauthenticatedKeyException(String message) {
    super(message);
  }
}
