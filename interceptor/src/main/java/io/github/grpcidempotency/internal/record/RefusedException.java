package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
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

  public RefusedException(Refusal refusal, @Nullable Exception cause) {
    super(refusal.reason().name(), cause, false, false);
    this.refusal = refusal;
  }

  public static RefusedException of(RefusalReason reason) {
    return new RefusedException(Refusal.of(reason));
  }

  public static RefusedException of(RefusalReason reason, Exception cause) {
    return new RefusedException(Refusal.of(reason), cause);
  }

  public static RefusedException of(StoreException outage) {
    return new RefusedException(Refusal.storeUnavailable(outage.failureCause()), outage);
  }

  public Refusal refusal() {
    return refusal;
  }
}
