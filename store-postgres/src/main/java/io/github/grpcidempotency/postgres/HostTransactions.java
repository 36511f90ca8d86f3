package io.github.grpcidempotency.postgres;

import java.util.Optional;

/**
 * The transactions of the host: Spring's, JTA's, or those of another framework. With them, the
 * claim of a transactional call is a transaction of the host, which everything joins that the
 * handler calls; and a reserved handler's own transaction records its answer.
 *
 * <p>A transaction is bound to the thread that has begun it: every method here speaks of the
 * current thread. So the interceptor claims, runs the handler and settles on one thread, and
 * settles when the handler has returned. An answer that another thread gives is waited for.
 *
 * <p>Without an implementation the store uses the transactions of its own pool, which handlers
 * reach by {@link ClaimTransaction}. Implementations are thread-safe, and throw what their host
 * throws: the store looks for the {@link java.sql.SQLException} among the causes.
 */
public interface HostTransactions {
  /**
   * Begins a transaction on the current thread, in read committed isolation unless the host has
   * another default. One that the thread already has is suspended until the new one has ended.
   *
   * @param name what the host may show as its name
   */
  HostTransaction.Begun begin(String name);

  /** Returns the transaction that the current thread has, whoever has begun it. */
  Optional<HostTransaction> current();
}
