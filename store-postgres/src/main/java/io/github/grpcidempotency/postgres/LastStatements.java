package io.github.grpcidempotency.postgres;

import java.util.HashMap;
import java.util.Map;

/**
 * The last statements of a transaction.
 *
 * @param alone without its commit
 * @param withCommit with it
 * @param afterwards what records the answer on a connection in autocommit, once the transaction was
 *     ended without it; empty if there is nothing to record
 */
record LastStatements(String alone, String withCommit, String afterwards) {
  private static final String COMMIT = "COMMIT";
  private static final String USER = "SELECT set_config('app.current_user_id', :user, true);\n";

  /** Ends a transaction in which nothing is left to do. */
  static final LastStatements NONE = new LastStatements("", COMMIT, "");

  /** Returns the same with another text that records the answer afterwards. */
  LastStatements orAfterwards(String other) {
    return new LastStatements(alone, withCommit, other);
  }

  /** Loads them from a file that ends in {@code ${commit}}. */
  static LastStatements load(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    all.putAll(Refusal.codes());
    String alone = SqlFile.loadRestoring(name, all);
    all.put("commit", COMMIT);
    return new LastStatements(alone, SqlFile.load(name, all), USER + alone);
  }
}
