package io.github.grpcidempotency.postgres;

import java.util.HashMap;
import java.util.Map;

/** What the statements of a transactional claim say of the transaction's begin and end. */
enum TransactionBoundaries {
  /** They begin and end it themselves, so that this costs no round trip. */
  OF_THE_STORE("BEGIN;", "ROLLBACK"),
  /**
   * The host does so. Since it runs the record, it has to be asked then whether it is still there.
   */
  OF_THE_HOST("", "");

  private final String begin;
  private final String rollback;

  TransactionBoundaries(String begin, String rollback) {
    this.begin = begin;
    this.rollback = rollback;
  }

  String begin() {
    return begin;
  }

  String rollback() {
    return rollback;
  }

  /** Returns the query on how the transaction was used; empty if its connection tells. */
  String use(String schema) {
    return switch (this) {
      case OF_THE_STORE -> "";
      case OF_THE_HOST -> SqlFile.load("transaction/use", useOf(schema));
    };
  }

  private static Map<String, String> useOf(String schema) {
    Map<String, String> values = new HashMap<>(Refusal.codes());
    values.put("schema", schema);
    return values;
  }
}
