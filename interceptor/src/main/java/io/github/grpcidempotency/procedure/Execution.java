package io.github.grpcidempotency.procedure;

/** How the effect of a handler and the record of its answer are committed. */
public enum Execution {
  /**
   * A reservation is committed, then the handler runs, then its answer is recorded. The handler
   * needs no changes. If the server crashes between effect and record, a retry runs the handler
   * again once the lease has ended, unless the handler records its answer in its own transaction.
   */
  RESERVED,
  /**
   * As {@link #RESERVED}, for a handler that writes only to the store's own database. The commit of
   * the reservation waits neither for the disk nor for a replica. If a crash of the database or a
   * failover loses the reservation, all effects that were committed after it are lost too. A
   * handler that is still running after such a loss should record its answer in its own
   * transaction, which then fails; otherwise a retry can run at the same time. Effects outside the
   * store's database are not protected by such a reservation.
   */
  RESERVED_SAME_DATABASE,
  /**
   * The handler writes in the claim's transaction, which the interceptor begins and commits. Effect
   * and record are one commit, and no crash can separate them. Calls without a key run in a plain
   * transaction.
   */
  TRANSACTIONAL
}
