package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.SQLException;

/** Statements that go in front of a commit, in its flush. */
interface TrailingStatements {
  /**
   * Runs them on a connection with its transaction open, and commits by the last of them. They
   * raise an error if it must not be committed.
   */
  void runAndCommit(Connection connection) throws SQLException;
}
