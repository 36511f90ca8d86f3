package io.github.grpcidempotency.internal.field;

/** A field does not hold a UUID. The message names the field and never contains its value. */
public final class NoUuidException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception for a field with that value. */
  public NoUuidException(String path, String value) {
    super("\"%s\" is %s".formatted(path, value.isEmpty() ? "empty" : "not a UUID"));
  }
}
