package io.github.grpcidempotency.postgres.internal.sql;

import java.util.Map;
import org.jdbi.v3.core.JdbiException;

/**
 * The reasons why the statements in front of a commit raise an error, with the SQLSTATE of each.
 */
public enum CommitRefusal {
  /** Another call owns the key. */
  CLAIM_LOST("IK002"),
  /** The transaction's snapshot may be older than the row's last renewal. */
  STALE_SNAPSHOT("IK003"),
  /** The current transaction is not the transaction in which the claim was made. */
  TRANSACTION_ENDED("IK004");

  private final String code;

  CommitRefusal(String code) {
    this.code = code;
  }

  public static Map<String, String> codes() {
    return Map.of(
        "lost", CLAIM_LOST.code, "snapshot", STALE_SNAPSHOT.code, "ended", TRANSACTION_ENDED.code);
  }

  public boolean isReasonOf(JdbiException failure) {
    return code.equals(Failures.sqlState(failure));
  }
}
