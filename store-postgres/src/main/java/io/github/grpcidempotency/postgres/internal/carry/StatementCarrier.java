package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * A connection that sends statements of the library in one flush with its user's first statement,
 * and in one flush with its user's commit.
 */
public interface StatementCarrier {
  /** Returns a carrier that uses a connection. */
  static StatementCarrier on(Connection connection) {
    return new CarryingConnection(connection);
  }

  /**
   * Returns the carrier of a host's connection; empty if the connection carries nothing.
   *
   * @throws TransactionException if the connection is closed
   */
  static Optional<StatementCarrier> of(Connection connection) {
    try {
      return connection.isWrapperFor(StatementCarrier.class)
          ? Optional.of(connection.unwrap(StatementCarrier.class))
          : Optional.empty();
    } catch (SQLException failure) {
      throw new TransactionException(
          "could not use the connection of the host's transaction", failure);
    }
  }

  /** Returns the connection for its user; {@code unwrap} returns this carrier from it. */
  Connection connection();

  /**
   * Sets the connection that {@code Statement.getConnection} returns, if its user sees another
   * connection than {@link #connection}.
   */
  void showAs(Connection shown);

  /**
   * Sends statements in front of the next statement of the connection's user. They stay pending if
   * a transaction without statements is committed or rolled back.
   */
  void carryFirst(LeadingStatements statements);

  /**
   * Sends the leading statements by themselves, if they were not sent yet.
   *
   * @throws ClaimPreemptedException if no statement may follow
   */
  void sendAlone() throws SQLException;

  /**
   * Sends statements together with the commit, when the connection's user commits by {@link
   * java.sql.Connection#commit}, or by switching to autocommit. The statements do not run if the
   * transaction is rolled back. Returns false if other statements are already registered for the
   * commit; the caller must then run its statements now.
   */
  boolean carryLast(TrailingStatements statements);

  /** Drops all statements that were not sent yet. */
  void forget();
}
