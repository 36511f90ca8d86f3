package io.github.grpcidempotency.postgres.internal.sql;

import java.util.HashMap;
import java.util.Map;

/** The statements that are the same for all procedures of a store. */
public final class StoreSql {
  /** Saves the commit mode of the handler's own transactions for claim/time_line.sql. */
  private static final String ASYNCHRONOUS_COMMIT =
      ", set_config('idempotency.effects_commit', current_setting('synchronous_commit'), true)"
          + ", set_config('synchronous_commit', 'off', true)";

  public final String claimBatch;
  public final String claimBatchOfSameDatabase;
  public final String takeOver;
  public final String extend;
  public final String retain;
  public final String isInFlight;
  public final String renew;
  public final String completed;
  public final String markUnknown;
  public final String lock;
  public final String isOpen;
  public final String hasChanges;
  public final String begin;
  public final String deleteEnded;

  /** Conditions: the time line is the same as at the claim, or at the claims of several calls. */
  final String sameTimeLine;

  final String sameTimeLineOfEach;

  private static final String TAKEN = "pg_current_xact_id_if_assigned() IS NOT NULL OR %s";

  private final Map<String, String> parts = new HashMap<>();

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
    parts.put("schema", schema);
    parts.put("begin", hosted ? "" : "BEGIN;");
    parts.put("rollback", hosted ? "" : "ROLLBACK");
    parts.put("touched", load("transaction/touched"));
    parts.put("use", hosted ? load("transaction/use") : "");
    parts.put("taken", hosted ? TAKEN.formatted(parts.get("touched")) : "true");
    parts.put("time_line", timeLines ? load("claim/time_line") : "CAST(NULL AS text)");
    this.sameTimeLine = timeLines ? load("settle/same_time_line") : "";
    this.sameTimeLineOfEach = timeLines ? load("settle/same_time_line_batch") : "";
    this.claimBatch = load("claim/claim_batch", durability(false));
    this.claimBatchOfSameDatabase = load("claim/claim_batch", durability(true));
    this.takeOver = load("claim/take_over");
    this.extend = load("claim/extend");
    this.retain = load("claim/retain");
    this.isInFlight = load("maintenance/is_in_flight");
    this.renew = load("maintenance/renew");
    this.completed = load("settle/is_completed");
    this.markUnknown = load("settle/mark_unknown");
    this.lock = load("settle/lock");
    this.isOpen = load("settle/is_open");
    this.hasChanges = load("settle/has_changes");
    this.begin = load("transaction/begin");
    this.deleteEnded = load("transaction/delete_ended");
  }

  /** Returns whether a claim's commit waits for the disk, as a part of its statement. */
  static Map<String, String> durability(boolean sameDatabase) {
    return Map.of("durability", sameDatabase ? ASYNCHRONOUS_COMMIT : "");
  }

  private String load(String name) {
    return SqlFile.load(name, parts);
  }

  private String load(String name, Map<String, String> more) {
    return SqlFile.load(name, with(more));
  }

  /** Returns the parts that files name, and more parts. */
  Map<String, String> with(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(parts);
    all.putAll(more);
    return all;
  }
}
