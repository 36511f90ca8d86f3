package io.github.grpcidempotency.postgres;

import java.sql.SQLException;

/**
 * A connection that sends statements of the library in the same flush as its user's first
 * statement, and as its user's commit.
 */
interface StatementCarrier {
  /**
   * Sends statements in front of the next one that its user sends. They outlive a commit and a
   * rollback that end a transaction in which nothing was sent.
   */
  void carryFirst(LeadingStatements statements);

  /**
   * Sends what was to go first by itself, if it was not sent yet.
   *
   * @throws ClaimPreemptedException if no statement may come after it
   */
  void sendAlone() throws SQLException;

  /**
   * Sends statements together with the commit, when its user commits by {@link
   * java.sql.Connection#commit}, or by switching to autocommit. They do not run if it is rolled
   * back. Returns false if there are others already, which end in the commit: these have to run
   * now.
   */
  boolean carryLast(TrailingStatements statements);

  /** Sends nothing of what was not sent yet. */
  void forget();
}
