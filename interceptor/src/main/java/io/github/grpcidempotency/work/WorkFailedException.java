package io.github.grpcidempotency.work;

import com.google.rpc.Code;

/**
 * A piece of work failed. Work throws it with a status code, to which the failure policy of the
 * procedure applies. If the failure is recorded as terminal, every retry gets the same exception.
 */
public final class WorkFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final Code code;

  public WorkFailedException(Code code, String message) {
    super(message);
    this.code = code;
  }

  public Code code() {
    return code;
  }
}
