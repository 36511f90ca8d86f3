package io.github.grpcidempotency.work;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A piece of work was refused, for one of the reasons of the wire contract. There is no result. */
public final class WorkRefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final RefusalReason reason;
  private final @Nullable Duration retryAfter;

  WorkRefusedException(Refusal refusal) {
    super(refusal.reason().wireName());
    this.reason = refusal.reason();
    this.retryAfter = refusal.retryAfter().orElse(null);
  }

  public RefusalReason reason() {
    return reason;
  }

  /** Returns how long to wait before the next try; empty if a retry is pointless. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
