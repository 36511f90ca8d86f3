package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import java.util.Optional;

/**
 * A store whose claims can be transactions that handlers write through, so that effect and record
 * are one commit. Transactional procedures need one.
 */
public interface TransactionalStore extends IdempotencyStore {
  /**
   * Checks, at start-up and after {@link #verify} has found nothing wrong, that a transaction keeps
   * its duplicates out.
   *
   * @throws io.github.grpcidempotency.procedure.SetupException if it does not
   * @throws StoreException if the store cannot be reached
   */
  void verifyTransactions();

  /**
   * Opens a transaction for a call, or returns what is recorded or running. The result for a
   * running call may leave out its request and procedure. A reservation that a crashed server has
   * left for the same request is deleted.
   *
   * @throws StoreException if the store failed; the exception says how far the claim had come, and
   *     why
   */
  ClaimResult claimInTransaction(ClaimRequest request);

  /**
   * Returns whether a transaction is bound to the thread that has opened it, as those of most
   * frameworks are. Then that thread runs the handler as well, and ends the transaction after the
   * handler has returned.
   */
  default boolean bindsThreads() {
    return false;
  }

  /**
   * Opens a transaction for a call that carries no key.
   *
   * @param caller on whose behalf it works, if the caller is known
   * @throws StoreException if the store cannot be reached
   */
  StoreTransaction begin(Optional<Caller> caller);
}
