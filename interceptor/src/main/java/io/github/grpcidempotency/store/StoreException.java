package io.github.grpcidempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * A store could not do what it was asked to, or does not know whether it did. The {@link #phase()}
 * says how far the call had come. A store that does not know uses the constructor without a phase:
 * no call then runs unguarded.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailurePhase phase;
  private final FailureCause failureCause;

  /** Makes a failure about which nothing is known: the operation may have been done. */
  public StoreException(String message, @Nullable Throwable cause) {
    this(message, cause, FailurePhase.ANSWER_LOST, FailureCause.OTHER);
  }

  /** Makes a failure. */
  public StoreException(
      String message, @Nullable Throwable cause, FailurePhase phase, FailureCause failureCause) {
    super(message, cause);
    this.phase = phase;
    this.failureCause = failureCause;
  }

  /** Returns how far the call had come. */
  public FailurePhase phase() {
    return phase;
  }

  /** Returns why the store failed. */
  public FailureCause failureCause() {
    return failureCause;
  }
}
