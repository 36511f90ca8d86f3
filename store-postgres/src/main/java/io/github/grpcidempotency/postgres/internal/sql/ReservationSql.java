package io.github.grpcidempotency.postgres.internal.sql;

import java.util.HashMap;
import java.util.Map;

/** The statements on a key's row that are the same for all procedures. */
public record ReservationSql(
    String claimBatch,
    String claimBatchOfSameDatabase,
    String takeOver,
    String extend,
    String completed,
    String markUnknown,
    String lock,
    String isOpen,
    String hasChanges,
    String deleteEnded,
    String retain,
    String isInFlight) {
  public static ReservationSql of(String schema, String timeLine) {
    Map<String, String> values = Map.of("schema", schema, "time_line", timeLine);
    return new ReservationSql(
        claimBatch(values, ""),
        claimBatch(values, ProcedureSql.ASYNCHRONOUS_COMMIT),
        SqlFile.load("claim/take_over", values),
        SqlFile.load("claim/extend", values),
        SqlFile.load("settle/is_completed", values),
        SqlFile.load("settle/mark_unknown", values),
        SqlFile.load("settle/lock", values),
        SqlFile.load("settle/is_open", values),
        SqlFile.load("settle/has_changes", values),
        SqlFile.load("transaction/delete_ended", values),
        SqlFile.load("claim/retain", values),
        SqlFile.load("maintenance/is_in_flight", values));
  }

  private static String claimBatch(Map<String, String> values, String durability) {
    Map<String, String> all = new HashMap<>(values);
    all.put("durability", durability);
    return SqlFile.load("claim/claim_batch", all);
  }
}
