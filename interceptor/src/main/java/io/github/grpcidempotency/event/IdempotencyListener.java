package io.github.grpcidempotency.event;

/**
 * Receives events, for metrics, logs and traces. No event carries a key, a request or a response.
 *
 * <p>Called on the threads that serve calls, on the executor that resumes waiting calls, and on the
 * library's own threads that renew leases, record answers in the background and sweep: return
 * quickly. Events of a call come within the {@link CallScope} that {@link #capture} gave for it.
 * Whatever a listener throws is logged and otherwise ignored: neither the call nor the other
 * listeners notice. Each method says when it is called, and so what a crash may lose. Events are
 * counted, not kept: one that is lost in a crash is not delivered again, and no event is delivered
 * twice.
 */
public interface IdempotencyListener {
  /** Captures the current context of a call that has arrived, on the thread on which it arrives. */
  default CallScope capture() {
    return CallScope.NONE;
  }

  /** An interceptor or a runner of work has started; its counts may be read until it is closed. */
  default void started(LiveCounts counts) {}

  /** An interceptor or a runner of work was closed. */
  default void stopped(LiveCounts counts) {}

  /** Before the key is claimed. */
  default void keyFound(IdempotencyEvent.KeyFound event) {}

  /** Before the handler runs, or the call is refused. */
  default void keyMissing(IdempotencyEvent.KeyMissing event) {}

  /** Before the call is refused. */
  default void keyInvalid(IdempotencyEvent.KeyInvalid event) {}

  /** Before the call is refused. */
  default void extractionFailed(IdempotencyEvent.ExtractionFailed event) {}

  /**
   * Before the handler runs. The claim is committed, unless it is transactional: a crash after this
   * leaves nothing of a transactional claim, and a lease that ends by itself of any other. A claim
   * with the handler's first statement is heard once the handler has ended, and before it is
   * settled; if it is not won, it is never heard, and what follows is what the call has met.
   */
  default void claimed(IdempotencyEvent.Claimed event) {}

  /** Before the recorded outcome is sent. */
  default void replayed(IdempotencyEvent.Replayed event) {}

  /** Before the duplicate waits; {@link #waitEnded} follows unless the process crashes. */
  default void attached(IdempotencyEvent.Attached event) {}

  /** Before the duplicate goes on. */
  default void waitEnded(IdempotencyEvent.WaitEnded event) {}

  /** Before the error is sent. The handler has not run, or its effect does not count. */
  default void refused(IdempotencyEvent.Refused event) {}

  /**
   * After the store has committed the settlement and before the answer is sent. A crash in between
   * loses the event, not the settlement.
   */
  default void settled(IdempotencyEvent.Settled event) {}

  /** After the settlement has failed and before the client is asked to come again. */
  default void settlementFailed(IdempotencyEvent.SettlementFailed event) {}

  /** Before an unprotected handler runs, or after it, if only then the cause is known. */
  default void unprotected(IdempotencyEvent.Unprotected event) {}

  /** After the store has said so. */
  default void leaseLost(IdempotencyEvent.LeaseLost event) {}

  /** Before the client is asked to come again. A crash from now on loses the answer. */
  default void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {}

  /** After the store has committed the record. */
  default void recordedLate(IdempotencyEvent.RecordedLate event) {}

  /** After the last try. */
  default void recordingAbandoned(IdempotencyEvent.RecordingAbandoned event) {}

  /** Before the replay is sent. */
  default void statusUnknown(IdempotencyEvent.StatusUnknown event) {}

  /** Before the replay is sent. */
  default void retentionFailed(IdempotencyEvent.RetentionFailed event) {}

  /** After the store has committed the renewal. */
  default void leasesRenewed(IdempotencyEvent.LeasesRenewed event) {}

  /** After the store has failed. */
  default void renewalFailed(IdempotencyEvent.RenewalFailed event) {}

  /** After the last batch of a sweep was committed. A crash in mid-sweep loses the event. */
  default void swept(IdempotencyEvent.Swept event) {}

  /** After a sweep has failed. */
  default void sweepFailed(IdempotencyEvent.SweepFailed event) {}
}
