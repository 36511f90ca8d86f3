package io.github.grpcidempotency.postgres.internal.sql;

import java.util.HashMap;
import java.util.Map;

/** The statements that are the same for all procedures of a store. */
public final class StoreSql {
  public final String claimBatch;
  public final String takeOver;
  public final String extend;
  public final String retain;
  public final String isInFlight;
  public final String renew;
  public final String completed;
  public final String markUnknown;
  public final String lock;
  public final String isOpen;
  public final String begin;
  public final String deleteEnded;

  /** Conditions: the time line is the same as at the claim, or at the claims of several calls. */
  final String sameTimeLine;

  final String sameTimeLineOfEach;

  private final Map<String, String> parts = new HashMap<>();
  private final boolean hosted;

  /**
   * Loads the statements.
   *
   * @param hosted whether the host begins and ends transactions. It then also runs the statements
   *     that record the answer, so these must check that the current transaction is still the
   *     claim's. Otherwise the statements begin the transaction themselves, which needs no extra
   *     round trip
   * @param timeLines whether the time line of the database is read, which changes with every
   *     failover
   */
  public StoreSql(String schema, boolean hosted, boolean timeLines) {
    this.hosted = hosted;
    parts.put("schema", schema);
    parts.put("begin", hosted ? "" : "BEGIN;");
    parts.put("rollback", hosted ? "" : "ROLLBACK");
    parts.put("taken", hosted ? load("transaction/taken") : "true");
    parts.put("use", hosted ? load("transaction/use") : "");
    parts.put("time_line", timeLines ? load("claim/time_line") : "CAST(NULL AS text)");
    this.sameTimeLine = timeLines ? load("settle/same_time_line") : "";
    this.sameTimeLineOfEach = timeLines ? load("settle/same_time_line_batch") : "";
    this.claimBatch = load("claim/claim_batch");
    this.takeOver = load("claim/take_over");
    this.extend = load("claim/extend");
    this.retain = load("claim/retain");
    this.isInFlight = load("maintenance/is_in_flight");
    this.renew = load("maintenance/renew");
    this.completed = load("settle/is_completed");
    this.markUnknown = load("settle/mark_unknown");
    this.lock = load("settle/lock");
    this.isOpen = load("settle/is_open");
    this.begin = load("transaction/begin");
    this.deleteEnded = load("transaction/delete_ended");
  }

  private String load(String name) {
    return SqlFile.load(name, parts);
  }

  /** Loads the last statements of a transaction, with the commit unless the host commits. */
  String loadLast(String name, Map<String, String> values) {
    return hosted ? SqlFile.loadRestoring(name, values) : SqlFile.loadCommitting(name, values);
  }

  /** Returns a copy of the parts that files name. */
  Map<String, String> parts() {
    return new HashMap<>(parts);
  }
}
