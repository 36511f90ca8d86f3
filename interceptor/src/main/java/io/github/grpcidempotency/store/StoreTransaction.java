package io.github.grpcidempotency.store;

/**
 * A transaction that a store has opened for a handler. The store's own module says what a handler
 * can do with it. Settling the claim ends its transaction.
 */
public interface StoreTransaction {
  /**
   * Returns whether the handler has ever used the transaction. Asked on the thread that settles:
   * after an answer is settled, and before a failure is. A store that does not know says that it
   * has.
   */
  boolean isTaken();

  /**
   * Returns whether the host has run another transaction beside it, whose effect does not end with
   * this one. Asked after the claim is settled.
   */
  default boolean wasSuspended() {
    return false;
  }

  /** Makes {@link #commit}, or the claim's settlement, roll back. This cannot be undone. */
  void setRollbackOnly();

  /**
   * Commits.
   *
   * @return {@code DONE}, or {@code ROLLED_BACK} if the store refused to commit, or rollback-only
   *     is set
   * @throws StoreException if it is not known whether it was committed
   * @throws TransactionMisuseException if the handler has ended it itself
   */
  Claim.Settled commit();

  /** Rolls back. Never throws; a transaction that cannot be reached ends by itself. */
  void rollback();
}
