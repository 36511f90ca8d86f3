package io.github.grpcidempotency.spi;

/** The progress of a call at the time of a store failure. */
public enum FailurePhase {
  /** The claim has no effect: it was not sent, or the store answered it with an error. */
  NOTHING_SENT,
  /** The claim was sent and its answer was lost. It is unknown who owns the key. */
  ANSWER_LOST,
  /** The store has found that another call owns the key. */
  ROW_SEEN,
  /** The handler has run, and its outcome could not be recorded. */
  HANDLER_DONE
}
