package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.SetupException;
import java.util.List;
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
   * Checks that {@link #claimLater} works as documented. Called at start-up, after {@link
   * #verifyTransactions}. A store that cannot send a claim together with a handler's first
   * statement throws here.
   *
   * @throws SetupException if the check fails
   * @throws StoreException if the store cannot be reached
   */
  default void verifyLateClaims() {
    throw new SetupException(
        List.of(
            getClass().getSimpleName()
                + " cannot claim with a handler's first statement: set"
                + " ClaimTiming.BEFORE_HANDLER"));
  }

  /**
   * Opens a transaction for a call without sending the claim. The claim is sent together with the
   * handler's first statement. If it finds a record or another owner, the statement does not run.
   * The caller of this method then claims again by {@link #claimInTransaction}, which returns the
   * record or the owner.
   *
   * <p>The calling thread runs the handler. Until the handler has returned, only that thread may
   * use the transaction. A use by another thread is refused, and sends nothing.
   *
   * @throws StoreException if the store could not be reached
   */
  default PendingClaim claimLater(ClaimRequest request) {
    throw new UnsupportedOperationException(getClass().getName());
  }

  /**
   * Opens a transaction for a call without a key.
   *
   * @param caller the caller of the call, if it is known
   * @throws StoreException if the store cannot be reached
   */
  StoreTransaction begin(Optional<Caller> caller);
}
