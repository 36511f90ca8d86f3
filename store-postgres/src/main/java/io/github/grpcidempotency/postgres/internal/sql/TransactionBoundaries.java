package io.github.grpcidempotency.postgres.internal.sql;

import java.util.Map;

/** Whether the statements of a transactional claim begin and end the transaction. */
public enum TransactionBoundaries {
  /** The statements begin and end the transaction themselves, which needs no extra round trip. */
  OF_THE_STORE("BEGIN;", "ROLLBACK"),
  /**
   * The host begins and ends it. The host also runs the statements that record the answer, so these
   * must check that the current transaction is still the claim's transaction.
   */
  OF_THE_HOST("", "");

  private final String begin;
  private final String rollback;

  TransactionBoundaries(String begin, String rollback) {
    this.begin = begin;
    this.rollback = rollback;
  }

  public String begin() {
    return begin;
  }

  String rollback() {
    return rollback;
  }

  /**
   * Returns the query on how the transaction was used; empty if the connection itself reports it.
   */
  String use(String schema) {
    return switch (this) {
      case OF_THE_STORE -> "";
      case OF_THE_HOST -> SqlFile.load("transaction/use", Map.of("schema", schema));
    };
  }
}
