package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.util.function.Consumer;

/** A transaction of the host, bound to the thread that began it. */
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
   * Registers work for the end of the transaction. Just before the commit, the host first writes
   * everything that it had deferred, and then runs the work within the transaction, on the
   * transaction's thread. If the work throws, the host rolls the transaction back. If the
   * transaction is rolled back, the work does not run. Works run in the order of registration.
   */
  void beforeCommit(Runnable work);

  /**
   * Registers a listener that is called with the result after the transaction has ended: after
   * every commit that was attempted and every rollback, whatever its cause. The listener may be
   * called on another thread, such as the thread of a timeout.
   *
   * @throws IllegalStateException if the transaction is marked for rollback and therefore accepts
   *     no registration
   */
  void afterCompletion(Consumer<Completion> listener);

  /** A transaction that the store has begun, and that the store ends. */
  interface Begun extends HostTransaction {
    /**
     * Commits.
     *
     * @return {@code ROLLED_BACK} if the transaction was marked for rollback; {@code UNKNOWN} if
     *     the host does not know how it ended
     * @throws RuntimeException if it could not be committed; if a lost connection is among the
     *     causes, the outcome is unknown
     */
    Completion commit();

    /**
     * Rolls back. Does nothing if the transaction has ended, as after a failed commit. Never
     * throws: a transaction that cannot be reached ends by itself.
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
}
