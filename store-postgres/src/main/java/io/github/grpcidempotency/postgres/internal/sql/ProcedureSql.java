package io.github.grpcidempotency.postgres.internal.sql;

import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import java.util.Optional;

/**
 * The statements of the calls of one procedure. Some name the column of its resource, contain its
 * outbox query, or wake its waiting duplicates. Calls whose statements have the same text share
 * batches.
 */
public final class ProcedureSql {
  private static final String NO_STATUS = "CAST(NULL AS text[])";

  private static final String NAMES = " names_resource = CAST(:resource_id AS text) IS NOT NULL,";

  /**
   * The first two entries: none, one, or too many. A null entry is read as an unknown value, and
   * does not count as a missing entry.
   */
  private static final String FOUND_STATUS =
      """
      ARRAY(SELECT COALESCE(CAST(found.status AS text), '')
        FROM (${query}
             ) AS found (status) LIMIT 2)\
      """;

  public final ResourceIdType idType;

  // Claims of reservations

  public final String claim;
  public final String claimBatch;

  /** Deletes the key's row if it has expired, and claims the key. */
  public final String claimExpired;

  public final String takeOver;
  public final String extend;

  // Look-ups

  public final String find;

  /** Reads the record without the outbox query, because that has failed. */
  public final String findWithoutStatus;

  public final String isInFlight;
  public final String retain;

  // Settlements of reservations

  public final String complete;
  public final String completeWithoutResource;

  /**
   * Records the answers of several calls, with their resources; empty if the procedure deletes its
   * resources, because each such record needs statements of its own.
   */
  public final Optional<String> completeBatch;

  public final String isCompleted;
  public final String markUnknown;
  public final String release;
  public final String releaseBatch;

  // Reservations in the handler's own transaction

  public final String lock;
  public final String isOpen;

  /** Records an answer and commits, or raises an error that {@link Failures} names. */
  public final String join;

  // Transactional claims

  /** Takes the operation's advisory lock if it is free, and reads the record. */
  public final String claimInTransaction;

  public final String deleteEnded;

  /**
   * Queries the outbox for a resource's status, and rolls back unless the host does; empty if there
   * is no outbox.
   */
  public final Optional<String> rollbackWithStatus;

  /** The number of statements before the outbox query in {@link #rollbackWithStatus}. */
  public final int beforeOutbox;

  /**
   * Records a response together with the handler's effect. In a transaction of the host, raises an
   * error if the current transaction is not the claim's transaction.
   */
  public final String record;

  /** Claims the key and records a response, or raises an error if the key is not free. */
  public final String recordAtCommit;

  public final String recordFailure;

  /** Finds out whether the key of a call that was rolled back has another owner. */
  public final String findOwner;

  public final String mayRecord;

  /** Wakes waiting duplicates; empty if no duplicates ever wait, or if all of them poll. */
  public final String wake;

  public ProcedureSql(RecordedProcedure procedure, ResourceIdType idType, SqlFiles store) {
    this.idType = idType;
    String value = resource(idType);
    Optional<String> column = procedure.resourceType().map(ResourceType::column);
    Optional<String> created =
        column.filter(name -> !procedure.deletes()).map(ProcedureSql::quoted);
    Optional<String> deleted = column.filter(name -> procedure.deletes());
    String resource =
        created.map(name -> name + " = " + value + ",").orElse("")
            + (column.isPresent() ? NAMES : "");
    String settings = settings(procedure);

    SqlFiles files =
        (procedure.awaited() ? store : store.with("wake", "").with("wake_batch", ""))
            .with("select_record", selectRecord(procedure, NO_STATUS, store))
            .with("column", created.map(name -> name + ",").orElse(""))
            .with("value", created.isPresent() ? value + "," : "")
            .with("reference", refer(store, deleted, value, ":attempt"));

    this.claim = files.with("expired", "").load("claim/claim");
    this.claimBatch = files.load("claim/claim_batch");
    this.claimExpired =
        files.with("expired", files.load("claim/delete_expired")).load("claim/claim");
    this.takeOver = files.load("claim/take_over");
    this.extend = files.load("claim/extend");

    this.find =
        files
            .with("select_record", selectRecord(procedure, status(procedure), store))
            .with("settings", settings)
            .load("claim/find");
    this.findWithoutStatus = files.with("settings", "").load("claim/find");
    this.isInFlight = files.load("maintenance/is_in_flight");
    this.retain = files.load("claim/retain");

    this.complete = updating(files, resource).load("settle/complete");
    this.completeWithoutResource =
        updating(files, "").with("reference", "").load("settle/complete");
    this.completeBatch =
        deleted.isPresent()
            ? Optional.empty()
            : Optional.of(
                files
                    .with("resource", created.map(name -> resourceInBatch(name, idType)).orElse(""))
                    .load("settle/complete_batch"));
    this.isCompleted = files.load("settle/is_completed");
    this.markUnknown = files.load("settle/mark_unknown");
    this.release = files.load("settle/release");
    this.releaseBatch = files.load("settle/release_batch");

    this.lock = files.load("settle/lock");
    this.isOpen = files.load("settle/is_open");
    this.join = updating(files.with("same_time_line", ""), resource).load("settle/join");

    this.claimInTransaction = files.load("transaction/claim");
    this.deleteEnded = files.load("transaction/delete_ended");
    this.beforeOutbox = settings.isEmpty() ? 0 : 1;
    String set = settings.isEmpty() ? "" : "SELECT true" + settings + ";\n\n";
    this.rollbackWithStatus =
        outbox(procedure, idType)
            .map(
                outbox ->
                    files
                        .with("outbox", outbox)
                        .with("set", set)
                        .load("transaction/rollback_with_status"));
    SqlFiles recording = files.with("reference", refer(store, deleted, value, "1"));
    this.record = recording.load("transaction/record");
    this.recordAtCommit =
        recording
            .with("use", recording.load("transaction/claim_at_commit"))
            .load("transaction/record");
    this.recordFailure = files.load("transaction/record_failure");
    this.findOwner = files.load("transaction/find_owner");
    this.mayRecord = files.load("transaction/may_record");
    String wakes = files.part("wake");
    this.wake = wakes.isEmpty() ? "" : "SELECT " + files.part("lock_timeout") + ";" + wakes;
  }

  private static String quoted(String column) {
    return '"' + column + '"';
  }

  private static SqlFiles updating(SqlFiles files, String resource) {
    return files.with("update", files.with("resource", resource).load("settle/update"));
  }

  private static String refer(
      SqlFiles files, Optional<String> column, String value, String attempt) {
    return column
        .map(
            name ->
                files
                    .with("column", name)
                    .with("value", value)
                    .with("attempt", attempt)
                    .load("settle/refer"))
        .orElse("");
  }

  /** Returns the expression of a resource id, which is bound as text. */
  private static String resource(ResourceIdType type) {
    return "CAST(:resource_id AS " + type.sqlName() + ")";
  }

  private static String resourceInBatch(String column, ResourceIdType type) {
    return "%s = CAST(own.resource_id AS %s), names_resource = own.resource_id IS NOT NULL,"
        .formatted(column, type.sqlName());
  }

  /** Returns the SELECT of a key's row. */
  public static String selectRecord(RecordedProcedure procedure, String schema) {
    return selectRecord(procedure, status(procedure), SqlFiles.of(schema));
  }

  private static String selectRecord(RecordedProcedure procedure, String status, SqlFiles files) {
    String resource =
        procedure.resourceType().map(type -> "k." + quoted(type.column())).orElse("NULL::text");
    return files.with("resource", resource).with("status", status).load("claim/select_record");
  }

  private static String status(RecordedProcedure procedure) {
    return procedure.resourceType().flatMap(type -> outboxOfEach(procedure)).orElse(NO_STATUS);
  }

  /** Returns a SELECT of the outbox status of a resource; empty if there is no outbox. */
  private static Optional<String> outbox(RecordedProcedure procedure, ResourceIdType type) {
    return outboxOf(procedure, resource(type))
        .map(status -> "SELECT " + status + " AS outbox_status");
  }

  /** Returns the outbox query for every resource of a list; empty if there is no outbox. */
  public static Optional<String> outboxOfEach(RecordedProcedure procedure) {
    return outboxOf(procedure, "idempotency_record.idempotency_record_resource");
  }

  private static Optional<String> outboxOf(RecordedProcedure procedure, String resourceId) {
    return procedure
        .outbox()
        .map(
            outbox ->
                FOUND_STATUS.replace(
                    "${query}",
                    outbox.sql(name -> name.equals("resource_id") ? resourceId : ofCaller(name))));
  }

  /**
   * Returns what a SELECT must evaluate before the outbox query, each after a comma; empty text if
   * there is nothing.
   */
  public static String settings(RecordedProcedure procedure) {
    return procedure.outbox().stream()
        .flatMap(outbox -> outbox.settings(ProcedureSql::ofCaller).entrySet().stream())
        .map(
            setting ->
                ", set_config('%s', CAST((%s) AS text), true)"
                    .formatted(setting.getKey(), setting.getValue()))
        .collect(joining());
  }

  private static String ofCaller(String name) {
    return name.equals("user_id") ? "CAST(:user AS uuid)" : ":" + name;
  }
}
