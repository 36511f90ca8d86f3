package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the driver knows of a connection's transaction, without asking the database. */
final class DriverState {
  private static final Logger logger = LoggerFactory.getLogger(DriverState.class);

  private DriverState() {}

  /** Returns the state of the transaction; empty if the connection is closed or hides it. */
  static Optional<TransactionState> of(Connection connection) {
    try {
      return connection.isWrapperFor(BaseConnection.class)
          ? Optional.of(connection.unwrap(BaseConnection.class).getTransactionState())
          : Optional.empty();
    } catch (SQLException hidden) {
      logger.debug("the connection does not tell its state; the database will", hidden);
      return Optional.empty();
    }
  }

  /** Cancels the statement that another thread runs, if one does. */
  static void cancel(Connection connection) {
    try {
      connection.unwrap(PGConnection.class).cancelQuery();
    } catch (SQLException unreachable) {
      logger.debug("could not cancel a statement", unreachable);
    }
  }

  /** Cuts a connection off from its database, even during a statement. The pool replaces it. */
  static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException closed) {
      logger.debug("could not abort a connection", closed);
    }
  }

  /**
   * Returns whether a transaction is open, or has failed and was not rolled back. Of a connection
   * that was given back to its pool, whose state is somebody else's, it is not known.
   */
  static boolean isKnownOpen(Connection connection) {
    try {
      return !connection.isClosed()
          && of(connection).filter(state -> state != TransactionState.IDLE).isPresent()
          && !connection.isClosed();
    } catch (SQLException hidden) {
      logger.debug("the connection does not tell whether it is closed", hidden);
      return false;
    }
  }
}
