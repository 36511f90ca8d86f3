package io.github.grpcidempotency.postgres.internal.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The state of a connection's transaction as the driver knows it, without a round trip. */
public final class DriverState {
  private static final Logger logger = LoggerFactory.getLogger(DriverState.class);

  private DriverState() {}

  /** Returns the state of the transaction; empty if the connection is closed or hides it. */
  public static Optional<TransactionState> of(Connection connection) {
    try {
      return connection.isWrapperFor(BaseConnection.class)
          ? Optional.of(connection.unwrap(BaseConnection.class).getTransactionState())
          : Optional.empty();
    } catch (SQLException hidden) {
      logger.debug(
          "the connection does not report the state of its transaction; the database"
              + " reports it with the next statement",
          hidden);
      return Optional.empty();
    }
  }

  /** Cancels the statement that another thread is running, if there is one. */
  public static void cancel(Connection connection) {
    try {
      connection.unwrap(PGConnection.class).cancelQuery();
    } catch (SQLException unreachable) {
      logger.debug("could not cancel a statement", unreachable);
    }
  }

  /** Closes a connection immediately, even during a statement. The pool replaces it. */
  public static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException closed) {
      logger.debug("could not abort a connection", closed);
    }
  }

  /**
   * Returns whether a transaction is known to be open, or known to have failed without a rollback.
   * Returns false for a connection that was returned to its pool, because another call may use it
   * by now.
   */
  public static boolean isKnownOpen(Connection connection) {
    try {
      return !connection.isClosed()
          && of(connection).filter(state -> state != TransactionState.IDLE).isPresent()
          && !connection.isClosed();
    } catch (SQLException hidden) {
      logger.debug("the connection does not report whether it is closed", hidden);
      return false;
    }
  }
}
