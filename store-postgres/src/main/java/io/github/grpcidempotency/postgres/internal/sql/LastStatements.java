package io.github.grpcidempotency.postgres.internal.sql;

import java.util.HashMap;
import java.util.Map;

/**
 * The last statements of a transaction.
 *
 * @param alone the statements without a commit
 * @param withCommit the statements with the commit
 */
public record LastStatements(String alone, String withCommit) {
  private static final String COMMIT = "COMMIT";

  /** For a transaction that has nothing left to do but commit. */
  public static final LastStatements NONE = new LastStatements("", COMMIT);

  /** Loads the statements from a file that ends in {@code ${commit}}. */
  static LastStatements load(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    String alone = SqlFile.loadRestoring(name, all);
    all.put("commit", COMMIT);
    return new LastStatements(alone, SqlFile.load(name, all));
  }
}
