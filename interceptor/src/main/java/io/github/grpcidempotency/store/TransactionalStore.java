package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.SetupException;
import java.util.List;
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
   * @throws SetupException if it does not
   * @throws StoreException if the store cannot be reached
   */
  void verifyTransactions();

  /**
   * Opens a transaction for a call, or returns what is recorded or running. The result for a
   * running call may leave out its request and procedure. A reservation that a crashed server has
   * left for the same request is deleted or taken over.
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
   * Checks, at start-up and after {@link #verifyTransactions}, that {@link #claimLater} works as it
   * says. A store that cannot send a claim together with a handler's first statement says so here.
   *
   * @throws SetupException if it does not
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
   * Opens a transaction for a call, and sends nothing. The claim is sent together with the
   * handler's first statement. If it meets a record or another owner, the statement does not run,
   * and the claim {@linkplain Claim#isPreempted() says so}; the caller then claims anew by {@link
   * #claimInTransaction}, which finds out what it was. A claim that has to be sent by itself is
   * sent by itself.
   *
   * <p>The calling thread runs the handler. Until the handler has returned, that thread alone may
   * use the transaction: a use by another thread is refused, and sends nothing.
   *
   * @return a claim that is not {@linkplain Claim#isWon() known to be won}, and is to be
   *     {@linkplain Claim#confirm() confirmed} before it is settled
   * @throws StoreException if the store could not be reached
   */
  default Claim claimLater(ClaimRequest request) {
    throw new UnsupportedOperationException(getClass().getName());
  }

  /**
   * Opens a transaction for a call that carries no key.
   *
   * @param caller on whose behalf it works, if the caller is known
   * @throws StoreException if the store cannot be reached
   */
  StoreTransaction begin(Optional<Caller> caller);
}
