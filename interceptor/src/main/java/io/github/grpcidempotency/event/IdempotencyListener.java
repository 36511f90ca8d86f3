package io.github.grpcidempotency.event;

/**
 * Receives events, for metrics, logs and traces. No event contains a key, a request or a response.
 *
 * <p>Methods must return quickly. They are called on the threads that serve calls, on the executor
 * that resumes waiting calls, and on the library's own threads that renew leases, record answers
 * and sweep. The methods for the events of a call run within the {@link CallScope} that {@link
 * #capture} returned for the call. An exception of a listener is logged and otherwise ignored; it
 * affects neither the call nor other listeners.
 *
 * <p>The documentation of each method states when it is called, and thus which events a crash may
 * lose. A lost event is not delivered again, and no event is delivered twice.
 */
public interface IdempotencyListener {
  /** Captures the current context of a call that has arrived, on the thread on which it arrives. */
  default CallScope capture() {
    return CallScope.NONE;
  }

  /**
   * An interceptor or an {@code IdempotentWork} has started. Its counts may be read until it is
   * closed.
   */
  default void started(LiveCounts counts) {}

  /** An interceptor or an {@code IdempotentWork} was closed. */
  default void stopped(LiveCounts counts) {}

  /** Called before the key is claimed. */
  default void keyFound(IdempotencyEvent.KeyFound event) {}

  /** Called before the handler runs or the call is refused. */
  default void keyMissing(IdempotencyEvent.KeyMissing event) {}

  /** Called before the call is refused. */
  default void keyInvalid(IdempotencyEvent.KeyInvalid event) {}

  /** Called before the call is refused. */
  default void extractionFailed(IdempotencyEvent.ExtractionFailed event) {}

  /**
   * Called before the handler runs. A transactional claim is not committed yet: a crash leaves
   * nothing of it. Any other claim is committed: after a crash, its lease ends by itself. If the
   * claim is sent with the handler's first statement, this method is called after the handler has
   * ended and before the claim is settled. If such a claim is not won, this method is not called,
   * and the events that follow describe the result of the claim.
   */
  default void claimed(IdempotencyEvent.Claimed event) {}

  /** Called before the recorded outcome is sent. */
  default void replayed(IdempotencyEvent.Replayed event) {}

  /** Called before the duplicate waits; {@link #waitEnded} follows unless the process crashes. */
  default void attached(IdempotencyEvent.Attached event) {}

  /** Called before the duplicate continues. */
  default void waitEnded(IdempotencyEvent.WaitEnded event) {}

  /** Called before the error is sent. The handler did not run, or its answer does not count. */
  default void refused(IdempotencyEvent.Refused event) {}

  /**
   * Called after the store has committed the settlement and before the answer is sent. A crash in
   * between loses the event, not the settlement.
   */
  default void settled(IdempotencyEvent.ClaimSettled event) {}

  /**
   * Called after the settlement has failed and before the client gets an error after which it may
   * retry.
   */
  default void settlementFailed(IdempotencyEvent.SettlementFailed event) {}

  /** Called before an unprotected handler runs, or afterwards if the cause is known only then. */
  default void unprotected(IdempotencyEvent.Unprotected event) {}

  /** Called after the store has reported that the claim has another owner. */
  default void leaseLost(IdempotencyEvent.LeaseLost event) {}

  /**
   * Called before the client gets an error after which it may retry. A crash after this call loses
   * the answer.
   */
  default void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {}

  /** Called after the store has committed the record. */
  default void recordedLate(IdempotencyEvent.RecordedLate event) {}

  /** Called after the last attempt to record the answer. */
  default void recordingAbandoned(IdempotencyEvent.RecordingAbandoned event) {}

  /** Called before the replay is sent. */
  default void statusUnknown(IdempotencyEvent.StatusUnknown event) {}

  /** Called before the replay is sent. */
  default void retentionFailed(IdempotencyEvent.RetentionFailed event) {}

  /** Called after the store has committed the renewal. */
  default void leasesRenewed(IdempotencyEvent.LeasesRenewed event) {}

  /** Called after the store has failed. */
  default void renewalFailed(IdempotencyEvent.RenewalFailed event) {}

  /**
   * Called after the last batch of a sweep was committed. A crash during a sweep loses the event.
   */
  default void swept(IdempotencyEvent.Swept event) {}

  /** Called after a sweep has failed. */
  default void sweepFailed(IdempotencyEvent.SweepFailed event) {}
}
