package io.github.grpcidempotency.postgres;

import java.util.Map;

/** The statements on a standing reservation that are the same for all procedures. */
record ReservationSql(
    String takeOver,
    String extend,
    String completed,
    String hold,
    String lock,
    String clear,
    String retain) {
  static ReservationSql of(String schema) {
    Map<String, String> values = Map.of("schema", schema);
    return new ReservationSql(
        SqlFile.load("take_over", values),
        SqlFile.load("extend", values),
        SqlFile.load("completed", values),
        SqlFile.load("hold", values),
        SqlFile.load("lock", values),
        SqlFile.load("clear", values),
        SqlFile.load("retain", values));
  }
}
