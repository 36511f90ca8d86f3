package io.github.grpcidempotency.event;

/** Why a duplicate waits no longer. */
public enum WaitEnd {
  /** The call that held the key has ended, and its outcome is known. */
  ANSWERED,
  /**
   * The call that held the key has ended without an answer, and the duplicate has won the claim.
   */
  CLAIMED,
  /** The call that held the key has ended, and it is unknown whether its effect happened. */
  OUTCOME_UNKNOWN,
  /** It has waited for as long as its procedure or its deadline allows, or the server closes. */
  GAVE_UP,
  /** Its client has cancelled it. */
  CANCELLED
}
