package io.github.grpcidempotency.torture;

/** How a handler has come by its claim, or has ended it, where there is more than one way. */
enum Way {
  /** As its procedure always does. */
  PLAIN,
  /** Claimed before the handler, although its procedure claims later: the call is a retry. */
  CLAIMED_FIRST,
  /** Claimed in the flush of the first statement. */
  WITH_FIRST_STATEMENT,
  /** Claimed in a flush of its own: nothing goes in front of a batch. */
  BY_ITSELF,
  /** Claimed after its first use of the connection was no statement of its own. */
  AFTER_ANOTHER_USE,
  /**
   * Its first statement failed, and it says OK all the same. Nothing is committed in this way, but
   * where the driver has saved the transaction from the failure.
   */
  AFTER_A_FAILURE,
  /** Written by another thread, where the first statement is to claim. */
  FROM_ANOTHER_THREAD
}
