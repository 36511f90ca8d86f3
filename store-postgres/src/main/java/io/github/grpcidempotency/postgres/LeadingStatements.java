package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Statements that go in front of a handler's first one. They raise an error if that one must not
 * run.
 */
interface LeadingStatements {
  /** Returns their text as the driver takes it, with question marks, ending in a semicolon. */
  String sql();

  /** Returns how many parameters they have. */
  int parameters();

  /** Returns how many results they return. */
  int results();

  /** Sets their parameters, from the first of the statement's on. */
  void bind(PreparedStatement statement) throws SQLException;

  /** They were sent in front of a statement, and all have succeeded. */
  void succeeded(PreparedStatement statement) throws SQLException;

  /**
   * They were sent in front of a statement, and they or that one failed. Returns what the user of
   * the connection is to get; it never returns if that is unchecked.
   */
  SQLException failed(SQLException failure);

  /** Sends them by themselves. */
  void runAlone(Connection connection) throws SQLException;
}
