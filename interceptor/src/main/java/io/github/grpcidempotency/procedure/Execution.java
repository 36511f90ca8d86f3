package io.github.grpcidempotency.procedure;

/** How the effect of a handler and the record of its answer are committed. */
public enum Execution {
  /**
   * A reservation is committed, then the handler runs, then its answer is recorded. The handler
   * needs no changes. If the server crashes between effect and record, or the handler fails after
   * its effect, a retry runs the handler again, unless the handler records its answer in its own
   * transaction.
   */
  RESERVED,
  /**
   * The handler writes in the claim's transaction, which the interceptor begins and commits. Effect
   * and record are one commit, and no crash can separate them. Calls without a key run in a plain
   * transaction.
   */
  TRANSACTIONAL
}
