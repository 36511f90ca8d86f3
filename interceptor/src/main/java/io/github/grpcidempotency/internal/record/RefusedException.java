package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.internal.decision.Refusal;
import java.util.Optional;

/**
 * A request is refused. The code that catches the exception emits the event and sends the error to
 * the client.
 */
public final class RefusedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // never serialized
  private final Refusal refusal;

  @SuppressWarnings("serial") // never serialized
  private final Optional<Exception> why;

  /** Creates the exception of a refusal without a failure. */
  public RefusedException(Refusal refusal) {
    this(refusal, Optional.empty());
  }

  public RefusedException(Refusal refusal, Optional<Exception> why) {
    super(refusal.reason().name(), why.orElse(null), false, false);
    this.refusal = refusal;
    this.why = why;
  }

  public Refusal refusal() {
    return refusal;
  }

  /** Returns the failure that caused it, if there is one. */
  public Optional<Exception> why() {
    return why;
  }
}
