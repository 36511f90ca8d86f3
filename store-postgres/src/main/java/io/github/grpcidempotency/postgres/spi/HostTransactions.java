package io.github.grpcidempotency.postgres.spi;

/**
 * The transactions of the host: Spring's, JTA's, or those of another framework. With an
 * implementation, the claim of a transactional call is a transaction of the host, and everything
 * that the handler calls joins it. If a reserved handler answers while it has such a transaction
 * open, the store lets the commit fail.
 *
 * <p>A transaction is bound to the thread that began it, so every method here refers to the current
 * thread. The interceptor claims, runs the handler and settles the claim on one thread, and settles
 * the claim when the handler has returned. If another thread sends the answer, the interceptor
 * waits for it.
 *
 * <p>Without an implementation, the store uses transactions of its own pool, which handlers reach
 * by {@code ClaimTransaction}. Implementations are thread-safe, and throw the host's own
 * exceptions: the store looks for the {@link java.sql.SQLException} among the causes.
 */
public interface HostTransactions {
  /**
   * Begins a transaction on the current thread, with read committed isolation unless the host has
   * another default. If the thread already has a transaction, that transaction is suspended until
   * the new one has ended.
   *
   * @param name the name that the host may show for the transaction
   */
  HostTransaction begin(String name);

  /** Returns whether the current thread has an open transaction, no matter who began it. */
  boolean isActive();

  /**
   * Marks the current thread's transaction for rollback, no matter who began it. Whoever commits it
   * gets the host's exception.
   */
  void setRollbackOnly();
}
