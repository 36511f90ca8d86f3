package io.github.grpcidempotency.store;

import io.github.grpcidempotency.spi.FailurePhase;
import org.jspecify.annotations.Nullable;

/**
 * An operation of a store failed, or it is unknown whether it was done. The {@link #phase()} is the
 * progress of the call at that time. A store that does not know the phase uses the constructor
 * without one; the call then never runs unprotected.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final FailurePhase phase;
  private final FailureCause failureCause;

  /** Creates a failure of unknown phase and cause, after which the operation may have been done. */
  public StoreException(String message, @Nullable Throwable cause) {
    this(FailurePhase.ANSWER_LOST, FailureCause.OTHER, message);
    initCause(cause);
  }

  private StoreException(FailurePhase phase, FailureCause failureCause, String message) {
    super(message);
    this.phase = phase;
    this.failureCause = failureCause;
  }

  /** Returns a failure of known phase and cause. Add what was thrown with {@link #initCause}. */
  public static StoreException of(FailurePhase phase, FailureCause failureCause, String message) {
    return new StoreException(phase, failureCause, message);
  }

  @Override
  public synchronized StoreException initCause(@Nullable Throwable cause) {
    super.initCause(cause);
    return this;
  }

  /** Returns the progress of the call at the time of the failure. */
  public FailurePhase phase() {
    return phase;
  }

  public FailureCause failureCause() {
    return failureCause;
  }
}
