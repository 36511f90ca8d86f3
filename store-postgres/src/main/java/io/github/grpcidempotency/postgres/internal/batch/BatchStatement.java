package io.github.grpcidempotency.postgres.internal.batch;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;

/**
 * A statement that does for several calls, in one round trip and one commit, the same as another
 * statement does for one call. Calls with equal statements can share a batch.
 *
 * @param <C> the values of one call
 * @param <T> the result for one call
 */
public interface BatchStatement<C, T> {
  /** The kinds of statements. Calls wait for statements of their own kind only. */
  enum Kind {
    CLAIM,
    SETTLE,
    FIND
  }

  Kind kind();

  /** Returns how many calls a batch takes if this number is waiting, which is at least one. */
  default int size(int waiting) {
    return waiting;
  }

  /**
   * Runs the statement, as one transaction.
   *
   * @param connection in autocommit mode
   * @return a result for each call, in order; empty if the statement did not decide the call, so
   *     that the call has to run its own statement
   */
  List<Optional<T>> run(Connection connection, List<C> calls);
}
