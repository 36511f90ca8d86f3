package io.github.grpcidempotency.work;

import com.google.rpc.Code;

/**
 * A piece of work failed. The work throws it to name a code, to which the failure policy of its
 * procedure applies. If the failure is recorded as terminal, every retry gets it too.
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
