package io.github.grpcidempotency.procedure;

/** How the effect of a handler and the record of its answer are committed. */
public enum Execution {
  /**
   * A reservation is committed, then the handler runs, then its answer is recorded. The handler
   * knows nothing about it. If the server crashes between effect and record, a retry runs the
   * handler again once the lease has ended, unless the handler records its answer in its own
   * transaction.
   */
  RESERVED,
  /**
   * The same, for a handler all of whose effects are in the store's own database. The reservation
   * waits neither for the disk nor for a replica, because a crash of the database, or a failover,
   * that loses it has lost every effect that was committed before as well. A handler that outlives
   * that moment should record its answer in its own transaction, which then fails: otherwise a
   * retry can run beside it. An effect elsewhere is not protected by such a reservation.
   */
  RESERVED_SAME_DATABASE,
  /**
   * The handler writes in the claim's transaction, which the interceptor begins and commits. Effect
   * and record are one commit, and no crash can separate them. Calls without a key run in a plain
   * transaction.
   */
  TRANSACTIONAL
}
