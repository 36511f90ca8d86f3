package io.github.grpcidempotency.procedure;

/** How a handler's effect and the record of its answer are brought together. */
public enum Execution {
  /**
   * A reservation is committed first, then the handler runs, then its answer is recorded. The
   * handler knows nothing. A server that crashes between effect and record makes a retry run the
   * handler again once the lease has ended, unless the handler records its answer in its own
   * transaction.
   */
  RESERVED,
  /**
   * The same, for a handler whose effect lives in the store's own database: the reservation need
   * not be flushed to disk on its own, for a crash that loses it has lost the effect as well.
   */
  RESERVED_SAME_DATABASE,
  /**
   * The handler writes through the claim's own transaction, which the interceptor opens and
   * commits: effect and record are one commit, and no crash can separate them. Calls without a key
   * run in a plain transaction.
   */
  TRANSACTIONAL
}
