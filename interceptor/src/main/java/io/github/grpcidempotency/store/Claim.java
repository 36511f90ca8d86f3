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
    /**
     * It took effect, but the record does not refer to the resource of the answer, because that
     * does not exist. Only for {@link #complete}.
     */
    UNREFERRED,
    /** Another owner has the key, or the record is gone. Nothing changed. */
    LOST,
    /**
     * The claim's own transaction could not be committed, or the handler's own transaction, which
     * was to record the answer, was rolled back. Nothing of either remains. A reservation is to be
     * released.
     */
    ROLLED_BACK,
    /**
     * The handler answered in its own transaction, and it is unknown whether that transaction was
     * committed. The reservation stays until its lease ends.
     */
    UNKNOWN
  }

  /** Returns what was claimed. */
  ClaimRequest request();

  /** Returns the record's id; it stays the same when another owner takes over. */
  UUID operationId();

  /**
   * Returns which run of the operation this is, from 1: the fencing token. A transactional run
   * without a reservation is always the first, because earlier runs have left nothing.
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
   * Returns whether the claim is known to be won. One that is to be sent with the handler's first
   * statement is not, until that has succeeded: whether it was won is then asked by {@link
   * #confirm}. Does not block. Any thread may ask.
   */
  default boolean isWon() {
    return true;
  }

  /**
   * Returns whether the claim is known to have met a record or another owner, so that the handler
   * was stopped and its answer need not be waited for. Does not block. Any thread may ask.
   */
  default boolean isPreempted() {
    return false;
  }

  /**
   * Returns whether the claim is won, and finds out if that is not known yet. Asked once the
   * handler has returned or thrown, on the thread that ran it, and before anything is settled. The
   * handler can use its transaction no longer. If the handler sent no statement, or if the failure
   * of its first statement does not show whether the claim was won, the claim is sent now by
   * itself.
   *
   * <p>If it is not won, nothing of the handler remains: its transaction is rolled back, what it
   * answers does not count, and the key is to be claimed anew. The claim is then of no more use.
   *
   * @throws StoreException if the store could not be asked; nothing of the handler remains either
   */
  default boolean confirm() {
    return true;
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
   * The handler has answered with an error. Called before {@link #deferSettlement}, so that the
   * claim can find out what the handler's own transaction commits.
   */
  default void failing() {}

  /**
   * Returns whether the transaction in which the handler has answered with an error has changed
   * anything, and was committed or may be. Called when the claim is settled.
   */
  default boolean hasCommitted() {
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
