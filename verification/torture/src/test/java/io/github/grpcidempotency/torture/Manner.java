package io.github.grpcidempotency.torture;

/**
 * How the handler of one call behaves. The client asks for it in a header, which is no part of the
 * request: a retry of the same request may behave in another manner.
 */
enum Manner {
  /** Does everything on its thread, and answers at the end. */
  ORDINARY,
  /**
   * Hands its work to another thread, which answers. If effect and record are one commit, a time
   * limit may answer before.
   */
  ELSEWHERE,
  /** Answers while a transaction of its own is open, which may be rolled back. */
  WITHIN,
  /** Answers, and only then gives its own connection back. */
  HOLDING,
  /** Writes, and never answers. If the transaction is its own, it stays open for three leases. */
  NEVER,
  /** Is interrupted at some time, perhaps while it waits for another call. */
  INTERRUPTED
}
