package io.github.grpcidempotency.postgres;

import java.util.HashMap;
import java.util.Map;

/** The last statements of a transaction, without its commit and with it. */
record LastStatements(String alone, String withCommit) {
  private static final String COMMIT = "COMMIT";
  private static final String USER = "SELECT set_config('app.current_user_id', :user, true);\n";

  /** Ends a transaction in which nothing is left to do. */
  static final LastStatements NONE = new LastStatements("", COMMIT);

  /** Returns them for a connection in autocommit, once the transaction is over. */
  String inTransactionOfTheirOwn() {
    return USER + alone;
  }

  /** Loads them from a file that ends in {@code ${commit}}. */
  static LastStatements load(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    all.putAll(Refusal.codes());
    all.put("commit", "");
    String alone = SqlFile.load(name, all);
    all.put("commit", COMMIT);
    return new LastStatements(alone, SqlFile.load(name, all));
  }
}
