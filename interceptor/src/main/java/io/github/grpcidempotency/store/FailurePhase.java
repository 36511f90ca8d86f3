package io.github.grpcidempotency.store;

/** How far a call had come with its store when the store failed. */
public enum FailurePhase {
  /** Nothing of a claim was done: it was not sent, or the store answered it with an error. */
  NOTHING_SENT,
  /** A claim was sent and its answer was lost: nobody knows who owns the key now. */
  ANSWER_LOST,
  /** The store has seen that somebody owns the key. */
  ROW_SEEN,
  /** The handler has run, and recording how it ended failed. */
  HANDLER_DONE
}
