package io.github.grpcidempotency.store;

import java.util.Optional;
import java.util.UUID;

/**
 * A claim that is sent together with its handler's first statement. The handler runs before it is
 * known whether the claim is won. {@link #confirm} finds this out, and returns the claim to settle.
 */
public interface PendingClaim extends AutoCloseable {
  /** Returns the request of this claim. */
  ClaimRequest request();

  /** Returns the id that the record gets if the claim is won. */
  UUID operationId();

  /**
   * Returns the transaction of the handler. If the handler is given up before the claim is
   * confirmed, the claim is closed, and not confirmed.
   */
  StoreTransaction transaction();

  /**
   * Returns whether the handler's first statement has succeeded, so that this process is known to
   * own the key. Does not block. Any thread may call it.
   */
  boolean isWon();

  /**
   * Returns the claim if it is won. Called once, after the handler has returned or thrown, on the
   * thread that ran it. Afterwards the handler cannot use its transaction any more. If the handler
   * sent no statement, or if the failure of its first statement does not show whether the claim was
   * won, the claim is sent now, without a statement.
   *
   * @return the claim, which must be settled; empty if the claim found a record or another owner.
   *     In this case the handler has no effect: its transaction is rolled back, and its answer does
   *     not count. The key must then be claimed again by {@link
   *     TransactionalStore#claimInTransaction}
   * @throws StoreException if the store failed; the handler has no effect in this case either
   */
  Optional<Claim> confirm();

  /**
   * Closes the transaction unless {@link #confirm} has returned a claim, which then has to be
   * closed instead. Never throws.
   */
  @Override
  void close();
}
