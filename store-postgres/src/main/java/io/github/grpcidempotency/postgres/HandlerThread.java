package io.github.grpcidempotency.postgres;

import java.sql.SQLException;
import org.postgresql.util.PSQLState;

/**
 * The thread that runs the handler of a claim that travels with the handler's first statement. Only
 * this thread may use the connection: if another one did, the call could end while the first
 * statement is still under way, and the driver would not know of its transaction.
 */
final class HandlerThread {
  private final Thread thread = Thread.currentThread();
  private final String procedure;

  /** Limits the use to the current thread. */
  HandlerThread(String procedure) {
    this.procedure = procedure;
  }

  /**
   * Checks that the current thread may use the connection. A handler that answers every failure of
   * the database also answers this one.
   *
   * @throws SQLException if not
   */
  void check() throws SQLException {
    Thread current = Thread.currentThread();
    if (current != thread) {
      throw new SQLException(
          ("%s: the use of the connection by thread %s was refused, and nothing was sent: the"
                  + " procedure claims with the handler's first statement, so only the thread that"
                  + " runs the handler, %s, can use the connection. Set ClaimTiming.BEFORE_HANDLER"
                  + " for a handler that uses other threads")
              .formatted(procedure, current.getName(), thread.getName()),
          PSQLState.OBJECT_NOT_IN_STATE.getState());
    }
  }
}
