package io.github.grpcidempotency.postgres.internal.carry;

import java.sql.Connection;
import java.sql.SQLException;

/** Statements that are sent in front of a commit, in one flush with it. */
public interface TrailingStatements {
  /**
   * Runs the statements on a connection with an open transaction, and commits with the last one.
   * The statements raise an error if the transaction must not be committed.
   */
  void runAndCommit(Connection connection) throws SQLException;
}
