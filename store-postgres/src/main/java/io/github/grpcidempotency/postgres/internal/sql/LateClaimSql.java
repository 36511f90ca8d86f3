package io.github.grpcidempotency.postgres.internal.sql;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statements of a claim that is sent in front of a handler's first statement, in the driver's
 * syntax. Thread-safe.
 */
public final class LateClaimSql {
  /**
   * More than the number of statements of usual handlers. A limit is needed because a handler can
   * build a new text for each call.
   */
  private static final int MAX_KNOWN = 1_000;

  public final String alone;

  /** The names of the parameters. */
  public final List<String> parameters;

  /** Whether the first statement begins the transaction. Such a statement has no result. */
  public final boolean begins;

  private final Map<String, String> known = new ConcurrentHashMap<>();

  LateClaimSql(Map<String, String> parts) {
    StatementBatch.Positional positional =
        StatementBatch.positional(SqlFile.load("transaction/claim_late", parts));
    this.alone = positional.sql();
    this.parameters = positional.names();
    this.begins = alone.startsWith("BEGIN");
  }

  /**
   * Returns a statement with the claim in front. Returns the same object for the same text, which
   * the driver finds faster in its cache.
   */
  public String inFrontOf(String sql) {
    String joined = known.get(sql);
    if (joined != null) {
      return joined;
    }
    joined = alone + "; " + sql;
    if (known.size() < MAX_KNOWN) {
      known.put(sql, joined);
    }
    return joined;
  }
}
