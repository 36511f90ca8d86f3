package io.github.grpcidempotency.postgres.internal.transaction;

import java.sql.SQLException;
import org.postgresql.util.PSQLState;

/**
 * The thread that runs the handler of a procedure whose claim is sent with the handler's first
 * statement. Only this thread may use the connection. If another thread used it, the call could end
 * while the first statement is still running, and the driver would not yet report a transaction.
 */
final class HandlerThread {
  private final Thread thread = Thread.currentThread();
  private final String procedure;

  /** Limits the use to the current thread. */
  HandlerThread(String procedure) {
    this.procedure = procedure;
  }

  /**
   * Checks that the current thread may use the connection. Throws an {@code SQLException}, because
   * handlers already answer failures of the database.
   *
   * @throws SQLException if it may not
   */
  void check() throws SQLException {
    Thread current = Thread.currentThread();
    if (current != thread) {
      throw new SQLException(
          ("%s: thread %s must not use this connection, and nothing was sent: the procedure claims"
                  + " with the handler's first statement, so only the thread that runs the handler,"
                  + " %s, can use the connection. Set ClaimTiming.BEFORE_HANDLER for a handler that"
                  + " uses other threads")
              .formatted(procedure, current.getName(), thread.getName()),
          PSQLState.OBJECT_NOT_IN_STATE.getState());
    }
  }
}
