package io.github.grpcidempotency.store;

/**
 * A transaction that a store has opened for a handler. What a handler can do with it, the store's
 * own module knows. A claim's transaction is ended by settling the claim.
 */
public interface StoreTransaction {
  /** Returns whether the handler has ever taken the transaction, to write through it. */
  boolean isTaken();

  /** Lets {@link #commit}, or the claim's settlement, roll back. It cannot be taken back. */
  void setRollbackOnly();

  /**
   * Commits.
   *
   * @return {@code DONE}, or {@code ROLLED_BACK} if the store refused, or was told to
   * @throws StoreException if it is not known whether it was committed
   * @throws TransactionMisuseException if the handler has ended it itself
   */
  Claim.Settled commit();

  /** Rolls back. Never throws; a transaction that cannot be reached ends by itself. */
  void rollback();
}
