package io.github.grpcidempotency.event;

/** The end of a wait. */
public interface WaitEvent extends CallEvent {
  End end();

  /** Why the wait of a duplicate ended. */
  enum End {
    /** The call that owned the key has ended, and its outcome is known. */
    ANSWERED,
    /**
     * The call that owned the key has ended without an answer, and the duplicate has won the claim.
     */
    CLAIMED,
    /** The call that owned the key has ended, and it is unknown whether its effect happened. */
    OUTCOME_UNKNOWN,
    /**
     * The limit of the procedure or the deadline of the duplicate is over, or the server is
     * shutting down.
     */
    GAVE_UP,
    /** The client cancelled the duplicate. */
    CANCELLED
  }
}
