package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
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
}
