package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * The ownership of one operation, which its owner must settle or close. Every method passes the
 * fencing token, so an owner that has lost its lease cannot change the operation of its successor.
 *
 * <p>Methods may block on the store. They are thread-safe. A claim is settled once.
 */
public interface Claim extends AutoCloseable {
  /** Whether a settlement took effect. */
  enum Settled {
    /** The settlement took effect. */
    DONE,
    /**
     * The settlement took effect, but the record does not refer to the resource of the answer,
     * because the resource does not exist. Only for {@link #complete}.
     */
    UNREFERRED,
    /** Another owner has the key, or the record does not exist any more. Nothing changed. */
    LOST,
    /**
     * Another call has, or may have, the key of a claim that is {@linkplain #isOptimistic
     * optimistic}. The handler has no effect, and its answer does not count: the key must be
     * claimed by {@link TransactionalStore#claimInTransaction}.
     */
    PREEMPTED,
    /**
     * The claim's transaction could not be committed, or the handler's own transaction, which
     * should have recorded the answer, was rolled back. The call has no effect. A reservation must
     * be released.
     */
    ROLLED_BACK
  }

  /** Returns the request of this claim. */
  ClaimRequest request();

  /** Returns the id of the record. It stays the same when another owner takes over. */
  UUID operationId();

  /**
   * Returns the number of this run of the operation, from 1: the fencing token. A transactional run
   * without a reservation has the number 1, because failed runs before it have left no record.
   */
  int attempt();

  /**
   * Returns the name of the server whose run this run has taken over; empty for a first run, and if
   * the store does not keep the names of servers.
   */
  default Optional<String> takenOverFrom() {
    return Optional.empty();
  }

  /**
   * Returns when the record expires, by the store's clock. Until then it answers retries. For a
   * claim that is {@linkplain #isOptimistic optimistic}, the time is an estimate until the answer
   * is recorded.
   */
  Instant expires();

  /**
   * Returns whether the handler runs before it is known whether the key is free. Any settlement may
   * then return {@link Settled#PREEMPTED}.
   */
  default boolean isOptimistic() {
    return false;
  }

  /**
   * Returns the type of the ids to which the record can refer. The outcome that is recorded has no
   * other id. By default, a record can refer to every id.
   */
  default ResourceIdType resourceIdType() {
    return ResourceIdType.TEXT;
  }

  /**
   * Returns the transaction of the handler; empty unless a {@link TransactionalStore} has opened
   * one. The settlement ends the transaction. After a failed settlement the answer must not be
   * recorded again, because effect and record were committed together or not at all.
   */
  default Optional<StoreTransaction> transaction() {
    return Optional.empty();
  }

  /**
   * Records the answer. The call can be repeated after a failure: if this claim has already
   * completed the record, it returns {@link Settled#DONE} again and changes nothing.
   *
   * @throws StoreException if it is unknown whether the answer was recorded
   * @throws TransactionMisuseException if the handler has misused the claim's transaction
   */
  Settled complete(RecordedOutcome outcome);

  /**
   * Deletes the reservation, so that a retry runs at once.
   *
   * @throws StoreException if it is unknown whether the reservation was deleted
   */
  Settled release();

  /**
   * Marks the outcome as unknown: the reservation stays until its lease ends. The transaction of a
   * transactional claim is rolled back instead.
   *
   * @throws StoreException if it is unknown whether the mark was made
   */
  Settled markUnknown();

  /**
   * Ends what the claim holds if it is not settled: rolls back its transaction, and gives back or
   * aborts its connection. A reservation stays until its lease ends. Does nothing after a
   * settlement. Never throws.
   */
  @Override
  default void close() {
    transaction().ifPresent(StoreTransaction::close);
  }
}
