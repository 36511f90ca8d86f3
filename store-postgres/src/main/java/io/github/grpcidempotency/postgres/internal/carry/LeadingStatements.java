package io.github.grpcidempotency.postgres.internal.carry;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Statements that are sent in front of a handler's first statement. They raise an error if the
 * handler's statement must not run. They are sent once.
 */
public interface LeadingStatements {
  /**
   * Checks that the current thread may use the connection, now and later in the transaction.
   *
   * @throws SQLException if it may not
   */
  void checkThread() throws SQLException;

  /** Returns a statement with the leading statements in front, in the driver's syntax. */
  String inFrontOf(String sql);

  int parameters();

  /** Sets the parameters of the leading statements, which come first. */
  void bind(PreparedStatement statement) throws SQLException;

  /**
   * Called after the leading statements were sent and have succeeded. Reads their results, and
   * moves on to the first result of the handler's statement. Returns whether that result has rows.
   */
  boolean succeeded(PreparedStatement statement) throws SQLException;

  /**
   * Called after the leading statements, or the statement behind them, failed. Returns the
   * exception for the user of the connection.
   *
   * @throws ClaimPreemptedException if the statement behind them must not run
   */
  SQLException failed(SQLException failure);

  /**
   * Sends the leading statements by themselves.
   *
   * @throws ClaimPreemptedException if no statement may follow
   */
  void runAlone(Connection connection) throws SQLException;
}
