package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Statements that go in front of a handler's first one. They raise an error if that one must not
 * run. They are sent once.
 */
interface LeadingStatements {
  /** Returns the only thread that may use the connection, now and later in the transaction. */
  HandlerThread thread();

  /** Returns a statement with them in front, as the driver takes it. */
  String inFrontOf(String sql);

  /** Returns how many parameters they have. */
  int parameters();

  /** Sets their parameters, which are the statement's first ones. */
  void bind(PreparedStatement statement) throws SQLException;

  /**
   * They were sent in front of a statement, and all have succeeded. Reads their results, and moves
   * on to the first result of that statement. Returns whether that has rows.
   */
  boolean succeeded(PreparedStatement statement) throws SQLException;

  /**
   * They were sent, and they or the statement behind them failed. Returns what the user of the
   * connection is to get.
   *
   * @throws ClaimPreemptedException if the statement behind them must not run
   */
  SQLException failed(SQLException failure);

  /**
   * Sends them by themselves.
   *
   * @throws ClaimPreemptedException if no statement may come after them
   */
  void runAlone(Connection connection) throws SQLException;
}
