package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.util.function.Consumer;

/** A transaction of the host, bound to the thread that has begun it. */
public interface HostTransaction {
  /** How a transaction ended. */
  enum Completion {
    /** It was committed. */
    COMMITTED,
    /** Nothing of it remains. */
    ROLLED_BACK,
    /** The host does not know. */
    UNKNOWN
  }

  /**
   * Returns the connection that the transaction's statements run on, with autocommit off. It is of
   * use until the transaction ends. The store never closes it, and neither commits nor rolls back
   * on it.
   */
  Connection connection();

  /**
   * Registers work for the end of the transaction: the host runs it within the transaction, on its
   * thread, just before the commit, after it has written all that it had held back until then. If
   * it throws, the transaction is rolled back. It does not run if the transaction is rolled back.
   * What is registered first runs first.
   */
  void beforeCommit(Runnable work);

  /**
   * Registers what is to hear how the transaction ended: after a commit that was asked for by
   * anybody, after a rollback of any cause. It may be heard on another thread, such as that of a
   * timeout.
   *
   * @throws IllegalStateException if it can only be rolled back, and lets nobody register any more
   */
  void afterCompletion(Consumer<Completion> heard);

  /**
   * Returns whether the host commits by {@link Connection#commit} of {@link #connection()}, after
   * what was registered for before the commit. What the store writes last can then be sent together
   * with the commit, if the connection is one of an {@code IdempotencyDataSource}.
   */
  default boolean commitsByConnection() {
    return false;
  }

  /** A transaction that the store has begun, and that the store ends. */
  interface Begun extends HostTransaction {
    /**
     * Writes what the host has held back until now, as JPA does. A claim that was to travel with
     * the handler's first statement then travels with the first of these. Does nothing if the
     * transaction is set to rollback-only, or if the host holds nothing back, or writes it before
     * the commit only; then the claim is sent by itself.
     *
     * @throws RuntimeException if it cannot be written; the transaction is then rolled back
     */
    default void flush() {}

    /**
     * Commits.
     *
     * @return {@code ROLLED_BACK} if somebody had set it to rollback-only; {@code UNKNOWN} if the
     *     host does not know how it ended
     * @throws RuntimeException if it could not be committed; a lost connection among the causes
     *     means that the outcome is not known
     */
    Completion commit();

    /**
     * Rolls back; does nothing if the transaction has ended, as after a commit that failed. Never
     * throws; a transaction that cannot be reached ends by itself.
     */
    void rollback();

    /**
     * Returns whether the host has, in the meantime, run another transaction beside this one, as
     * {@code REQUIRES_NEW} does. A host that does not tell returns false.
     */
    default boolean wasSuspended() {
      return false;
    }
  }
}
