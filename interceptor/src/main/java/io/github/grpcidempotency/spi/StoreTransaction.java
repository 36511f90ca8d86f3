package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;

/**
 * A transaction that a store has opened for a handler. The store's module defines how a handler
 * uses it. The settlement of the claim ends the transaction. A transaction ends once: what is
 * called later does nothing.
 */
public interface StoreTransaction extends AutoCloseable {
  /**
   * Returns whether the handler has used the transaction. Called on the thread that settles the
   * claim: after an answer is settled, or before a failure is settled. A store that does not know
   * returns true.
   */
  boolean isTaken();

  /**
   * Returns whether another transaction ran while this transaction was suspended, so that its
   * writes are not rolled back with this transaction. Called after the claim is settled.
   */
  default boolean wasSuspended() {
    return false;
  }

  /** Makes {@link #commit}, or the settlement of the claim, roll back. This cannot be undone. */
  void setRollbackOnly();

  /**
   * Commits.
   *
   * @return {@code DONE}, or {@code ROLLED_BACK} if the store refused to commit, or the transaction
   *     was set to rollback-only
   * @throws StoreException if it is unknown whether the transaction was committed
   * @throws TransactionMisuseException if the handler has ended the transaction itself
   */
  Claim.Settled commit();

  /**
   * Rolls back after the method of the handler has returned, and gives the connection back. Never
   * throws: a transaction that cannot be reached ends by itself.
   */
  void rollback();

  /**
   * Ends the transaction although its handler may still be using it: nothing of the transaction
   * remains, and its connection is not given to anybody else. Never throws. Any thread may call it.
   * If the transaction is bound to a thread, that thread must call this method or {@link #rollback}
   * too, once the handler has returned.
   */
  @Override
  void close();
}
