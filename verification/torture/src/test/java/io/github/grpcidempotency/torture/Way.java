package io.github.grpcidempotency.torture;

/** How a handler's effect came about, where there is more than one way. */
enum Way {
  /** Claimed before the handler, or reserved. */
  PLAIN,
  /** Claimed by its record, at the commit. */
  AT_COMMIT,
  /** The same, answered by another thread. */
  AT_COMMIT_ELSEWHERE,
  /** The same with a unique name beside the effect, so that a twin of the call fails. */
  AT_COMMIT_WITH_NAME,
  /**
   * The same, but a statement failed first, and the handler says OK all the same. Nothing is
   * committed in this way, but where the driver has saved the transaction from the failure.
   */
  AT_COMMIT_AFTER_A_FAILURE;

  /** Returns whether a claim at commit was made, or tried. */
  boolean isAtCommit() {
    return this != PLAIN;
  }
}
