package io.github.grpcidempotency.work;

import com.google.rpc.Code;

/**
 * A piece of work failed. Thrown by the work to say with which code, which its procedure's failure
 * policy then weighs; and thrown to whoever repeats work whose failure is recorded as terminal.
 */
public final class WorkFailedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final Code code;

  /** Makes the failure. */
  public WorkFailedException(Code code, String message) {
    super(message);
    this.code = code;
  }

  /** Returns the failure's code. */
  public Code code() {
    return code;
  }
}
