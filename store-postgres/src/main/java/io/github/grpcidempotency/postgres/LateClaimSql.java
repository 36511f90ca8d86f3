package io.github.grpcidempotency.postgres;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statements of a claim that goes in front of a handler's first statement, as the driver takes
 * them. Thread-safe.
 */
final class LateClaimSql {
  /** More statements than handlers have; their text may be made up anew each time. */
  private static final int MAX_KNOWN = 1_000;

  private final String leading;
  private final Parameters.Names parameters;
  private final boolean begins;
  private final Map<String, String> known = new ConcurrentHashMap<>();

  LateClaimSql(String schema, TransactionBoundaries boundaries) {
    StatementBatch.Positional positional =
        StatementBatch.positional(
            SqlFile.load(
                "transaction/claim_late", Map.of("schema", schema, "begin", boundaries.begin())));
    this.leading = positional.sql();
    this.parameters = positional.names();
    this.begins = !boundaries.begin().isEmpty();
  }

  /** Returns them alone. */
  String alone() {
    return leading;
  }

  /** Returns a statement with them in front. The driver finds it again sooner if it is the same. */
  String inFrontOf(String sql) {
    String joined = known.get(sql);
    if (joined != null) {
      return joined;
    }
    joined = leading + "; " + sql;
    if (known.size() < MAX_KNOWN) {
      known.put(sql, joined);
    }
    return joined;
  }

  /** Returns the names of their parameters. */
  Parameters.Names parameters() {
    return parameters;
  }

  /** Whether the first of them begins the transaction, and returns nothing. */
  boolean begins() {
    return begins;
  }
}
