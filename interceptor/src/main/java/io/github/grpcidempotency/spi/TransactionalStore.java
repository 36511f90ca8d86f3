package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;

/**
 * A store whose claims can be transactions for handlers, so that effect and record are one commit.
 * Transactional procedures need such a store.
 */
public interface TransactionalStore extends IdempotencyStore {
  /**
   * Checks that a duplicate cannot run while a transactional call is running. Called at start-up,
   * after {@link #verify} has found no problem.
   *
   * @throws SetupException if the check fails
   * @throws StoreException if the store cannot be reached
   */
  void verifyTransactions();

  /**
   * Opens a transaction for a call, or returns the record or the running operation of its key. The
   * result for a running call may lack its request and procedure. An abandoned reservation of the
   * same request is deleted or taken over.
   *
   * @throws StoreException if the store failed; the exception contains the progress of the claim
   *     and the reason
   */
  ClaimResult claimInTransaction(ClaimRequest request);

  /**
   * Returns whether a transaction is bound to the thread that has opened it, as in most frameworks.
   * In that case the same thread runs the handler, and ends the transaction after the handler has
   * returned.
   */
  default boolean bindsThreads() {
    return false;
  }

  /**
   * Opens a transaction for a call, and claims nothing before the call is settled. The record
   * itself is the claim: of two calls with one key, one is settled, and the other is {@linkplain
   * Claim.Settled#PREEMPTED preempted} and rolled back. An error of the handler is returned only if
   * the key has no record and no other owner, because the handler may have failed only because
   * another call of its key was quicker.
   *
   * @return the claim, which is {@linkplain Claim#isOptimistic optimistic}
   * @throws StoreException if the store could not be reached
   */
  Claim claimAtCommit(ClaimRequest request);

  /**
   * Opens a transaction for a call without a key.
   *
   * @param caller the caller of the call, if it is known
   * @throws StoreException if the store cannot be reached
   */
  StoreTransaction begin(Optional<Caller> caller);
}
