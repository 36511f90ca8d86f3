package io.github.grpcidempotency.store;

/** How far a call had come with its store when the store failed. */
public enum FailurePhase {
  /** Nothing of a claim was done: it was not sent, or the store answered it with an error. */
  NOTHING_SENT,
  /** A claim was sent and its answer lost: whose the key is now, nobody knows. */
  ANSWER_LOST,
  /** Somebody was seen to have the key. */
  ROW_SEEN,
  /** The handler has run; what failed was to record how it ended. */
  HANDLER_DONE
}
