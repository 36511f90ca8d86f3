package io.github.grpcidempotency.store;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The right to run one operation, and the duty to settle it. Every method passes the fencing token,
 * so an owner that has lost its lease cannot change what its successor has.
 *
 * <p>Methods block on the store. They are thread-safe, but a claim is settled once.
 */
public interface Claim {
  /** Whether a settlement took effect. */
  enum Settled {
    /** It took effect. */
    DONE,
    /** Another owner has the key, or the record is gone. Nothing changed. */
    LOST,
    /**
     * The claim's own transaction could not be committed, or the handler's own transaction, which
     * was to record the answer, was rolled back. Nothing of either remains. A reservation is to be
     * released.
     */
    ROLLED_BACK
  }

  /** Returns what was claimed. */
  ClaimRequest request();

  /** Returns the record's id; it stays the same when another owner takes over. */
  UUID operationId();

  /**
   * Returns which run of the operation this is, from 1: the fencing token. A transactional run is
   * always the first, because earlier runs have left nothing.
   */
  int attempt();

  /** Returns when the record expires, by the store's clock. Until then it answers retries. */
  Instant expires();

  /**
   * Returns the transaction that the handler writes through; empty unless a {@link
   * TransactionalStore} has opened one. Settling ends it. The answer cannot be recorded again after
   * a failure: the effect was committed with its record or not at all.
   */
  default Optional<StoreTransaction> transaction() {
    return Optional.empty();
  }

  /**
   * Defers the settlement of a claim whose handler answered within a transaction of its own that is
   * still open, and may yet be rolled back. Asked once the handler has answered, whatever it has
   * answered, and on its thread. Until the settlement runs, the lease is renewed.
   *
   * @param settlement is run once, when the transaction has ended, on its thread; must not block
   * @return whether it is deferred; if not, the claim can be settled at once
   */
  default boolean deferSettlement(Runnable settlement) {
    return false;
  }

  /**
   * Records the answer. Repeating it after a failure is safe: for a record that this claim has
   * completed already, it returns {@link Settled#DONE} again and changes nothing.
   *
   * @throws StoreException if it is not known whether the answer was recorded
   * @throws TransactionMisuseException if the handler has misused the claim's transaction
   */
  Settled complete(RecordedOutcome outcome);

  /**
   * Deletes the reservation, so that a retry runs at once.
   *
   * @throws StoreException if it is not known whether the reservation was deleted
   */
  Settled release();

  /**
   * Marks the outcome as unknown: the reservation stays until its lease ends. A transaction is
   * rolled back instead: its outcome is known.
   *
   * @throws StoreException if it is not known whether the mark was made
   */
  Settled markUnknown();
}
