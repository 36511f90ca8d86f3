package io.github.grpcidempotency.store;

import java.time.Instant;
import java.util.UUID;

/**
 * The right to run one operation, and the duty to settle it. Every method names this ownership's
 * fencing token, so that an owner who lost its lease touches nothing of its successor's.
 *
 * <p>Methods block on the store. They are thread-safe, but a claim is settled once.
 */
public interface Claim {
  /** Whether a settlement took effect. */
  enum Settled {
    /** The record says so. */
    DONE,
    /**
     * The lease had ended and another owner has the key, or the record is gone. Nothing changed.
     */
    LOST
  }

  /** Returns what was claimed. */
  ClaimRequest request();

  /** Returns the record's id; it stays the same when another owner takes over. */
  UUID operationId();

  /** Returns until when the record will answer retries, by the store's clock. */
  Instant expires();

  /**
   * Records the answer. Repeating it after a failure is safe: a record that this claim has already
   * completed says {@link Settled#DONE} again and is not changed.
   *
   * @throws StoreException if it is not known whether the answer was recorded
   */
  Settled complete(RecordedOutcome outcome);

  /**
   * Deletes the reservation, so that a retry runs at once.
   *
   * @throws StoreException if it is not known whether the reservation was deleted
   */
  Settled release();

  /**
   * Marks the outcome as unknown: the reservation stays until its lease ends.
   *
   * @throws StoreException if it is not known whether the mark was made
   */
  Settled hold();
}
