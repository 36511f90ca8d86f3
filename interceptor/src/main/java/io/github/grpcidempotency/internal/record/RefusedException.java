package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * A request is refused, because of the failure that is the cause, if there is one. The code that
 * catches the exception emits the event and sends the error to the client.
 */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Refusal refusal;

  public RefusedException(Refusal refusal) {
    this(refusal, null);
  }

  public RefusedException(Refusal refusal, @Nullable Throwable cause) {
    super(refusal.reason().wireName(), cause, false, false);
    this.refusal = refusal;
  }

  public static RefusedException of(RefusalReason reason) {
    return new RefusedException(Refusal.of(reason));
  }

  public static RefusedException of(RefusalReason reason, Throwable cause) {
    return new RefusedException(Refusal.of(reason), cause);
  }

  /** Returns the refusal of a call that may be repeated, because a function has failed. */
  public static RefusedException temporary(Throwable failure) {
    FailureCause cause =
        failure instanceof StoreException known ? known.failureCause() : FailureCause.OTHER;
    return new RefusedException(Refusal.storeUnavailable(cause), failure);
  }

  public Refusal refusal() {
    return refusal;
  }
}
