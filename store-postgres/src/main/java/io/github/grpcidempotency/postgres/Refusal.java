package io.github.grpcidempotency.postgres;

import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jdbi.v3.core.JdbiException;

/** Why the statements in front of a commit raise an error, by the SQLSTATE that they raise. */
enum Refusal {
  /** Another owner has the key. */
  CLAIM_LOST("IK002"),
  /** The transaction's snapshot may be older than the row's last renewal. */
  STALE_SNAPSHOT("IK003"),
  /** It is not the transaction any more that the claim was made in. */
  TRANSACTION_ENDED("IK004");

  private final String code;

  Refusal(String code) {
    this.code = code;
  }

  /** Returns the codes, by the names that they have in the statements. */
  static Map<String, String> codes() {
    return Map.of(
        "lost", CLAIM_LOST.code, "snapshot", STALE_SNAPSHOT.code, "ended", TRANSACTION_ENDED.code);
  }

  /** Returns what the statements have refused; empty if they failed otherwise. */
  static Optional<Refusal> of(JdbiException failure) {
    String state = Failures.sqlState(failure);
    return Stream.of(values()).filter(refusal -> refusal.code.equals(state)).findFirst();
  }
}
