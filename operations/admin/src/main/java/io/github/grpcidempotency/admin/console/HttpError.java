package io.github.grpcidempotency.admin.console;

/** A request that is refused, with the message for its sender. */
final class HttpError extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  HttpError(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  int status() {
    return status;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
