package io.github.grpcidempotency.postgres.spi;

import java.sql.Connection;

/** A transaction of the host that the store has begun, and that the same thread ends. */
public interface HostTransaction {
  /** How a transaction ended. */
  enum Completion {
    /** It was committed. */
    COMMITTED,
    /** It was rolled back. */
    ROLLED_BACK,
    /** The host does not know. */
    UNKNOWN
  }

  /**
   * Returns the connection that the transaction's statements run on, with autocommit off. The
   * connection can be used until the transaction ends. The store does not close it, and does not
   * commit or roll back on it.
   */
  Connection connection();

  /**
   * Writes everything that the host had deferred, runs the record within the transaction, as late
   * as the host can, and commits. If the record throws, the host rolls the transaction back. If the
   * transaction will be rolled back, the record does not run.
   *
   * @return how the transaction ended, no matter who has ended it: {@code ROLLED_BACK} if it was
   *     marked for rollback, or rolled back earlier; {@code COMMITTED} even if the host fails after
   *     the commit
   * @throws RuntimeException if the transaction could not be committed. The store looks for the
   *     PostgreSQL driver's {@link java.sql.SQLException} among the causes. If there is none, and
   *     the record has run, the store does not know how the transaction ended.
   */
  Completion commit(Runnable record);

  /**
   * Rolls back. Does nothing if the transaction has ended, as after a commit. Never throws: a
   * transaction that cannot be reached ends by itself.
   */
  void rollback();

  /**
   * Returns whether the host has suspended this transaction to run another one, as {@code
   * REQUIRES_NEW} does. A host that cannot detect this returns false.
   */
  default boolean wasSuspended() {
    return false;
  }
}
