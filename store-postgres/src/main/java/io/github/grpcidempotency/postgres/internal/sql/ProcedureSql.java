package io.github.grpcidempotency.postgres.internal.sql;

import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The statements of one procedure: statements that name the column of its resource, contain its
 * outbox query, or wake its waiting duplicates.
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

  public final String claim;

  /** Deletes the key's row if it has expired, and claims the key. */
  public final String claimExpired;

  public final String find;
  public final String complete;
  public final String completeWithoutResource;
  public final String releaseBatch;
  public final String release;
  public final String recordFailure;
  public final String mayRecord;
  public final ResourceIdType idType;

  /** Reads the record without the outbox query, because that has failed. */
  public final String findWithoutStatus;

  /**
   * Records the answers of several calls, with their resources; empty if the procedure deletes its
   * resources, because each such record needs statements of its own.
   */
  public final Optional<String> completeBatch;

  /**
   * Records an answer in the handler's own transaction and commits, or raises a {@link
   * CommitRefusal}.
   */
  public final String join;

  /** Takes the operation's advisory lock if it is free, and reads the record. */
  public final String claimInTransaction;

  /**
   * Queries the outbox for a resource's status, and rolls back unless the host does; empty if there
   * is no outbox.
   */
  public final Optional<String> rollbackWithStatus;

  /** The number of statements before the outbox query in {@link #rollbackWithStatus}. */
  public final int beforeOutbox;

  /**
   * Records a response together with the handler's effect. In a transaction of the host, raises a
   * {@link CommitRefusal} if the current transaction is not the claim's transaction.
   */
  public final String record;

  /** Claims the key and records a response, or raises an error if the key is not free. */
  public final String recordAtCommit;

  /** Finds out whether the key of a call that was rolled back has another owner. */
  public final String findOwner;

  /** Wakes waiting duplicates; empty if no duplicates ever wait, or if all of them poll. */
  public final String wake;

  public ProcedureSql(
      RecordedProcedure procedure, ResourceIdType idType, boolean notifies, StoreSql store) {
    this.idType = idType;
    String value = resource(idType);
    Optional<String> column = procedure.resourceType().map(ResourceType::column);
    Optional<String> created =
        column.filter(name -> !procedure.deletes()).map(ProcedureSql::quoted);
    Optional<String> deleted = column.filter(name -> procedure.deletes());
    String resource =
        created.map(name -> name + " = " + value + ",").orElse("")
            + (column.isPresent() ? NAMES : "");

    Map<String, String> parts = store.parts();
    boolean wakes = procedure.awaited() && notifies;
    this.wake = wakes ? SqlFile.load("maintenance/wake", parts) : "";
    parts.put("wake", wake);
    parts.put("select_record", selectRecord(procedure, NO_STATUS, parts));
    parts.put("column", created.map(name -> name + ",").orElse(""));
    parts.put("value", created.isPresent() ? value + "," : "");
    parts.put("update", update(parts, resource, ""));
    parts.put("reference", deleted.map(name -> refer(parts, name, value, ":attempt")).orElse(""));

    this.claim = SqlFile.load("claim/claim", with(parts, "expired", ""));
    this.claimExpired =
        SqlFile.load(
            "claim/claim", with(parts, "expired", SqlFile.load("claim/delete_expired", parts)));
    this.findWithoutStatus = SqlFile.load("claim/find", with(parts, "settings", ""));
    this.find =
        SqlFile.load(
            "claim/find",
            with(
                with(parts, "select_record", selectRecord(procedure, status(procedure), parts)),
                "settings",
                settings(procedure)));
    this.claimInTransaction = SqlFile.load("transaction/claim", parts);
    String settings = settings(procedure);
    this.beforeOutbox = settings.isEmpty() ? 0 : 1;
    String set = settings.isEmpty() ? "" : "SELECT true" + settings + ";\n\n";
    this.rollbackWithStatus =
        outbox(procedure, idType)
            .map(
                outbox ->
                    SqlFile.load(
                        "transaction/rollback_with_status",
                        with(with(parts, "outbox", outbox), "set", set)));
    this.release = SqlFile.load("settle/release", parts);
    this.complete =
        SqlFile.load(
            "settle/complete", with(parts, "update", update(parts, resource, store.sameTimeLine)));
    this.completeWithoutResource =
        SqlFile.load(
            "settle/complete",
            with(with(parts, "update", update(parts, "", store.sameTimeLine)), "reference", ""));
    this.join = SqlFile.load("settle/join", parts);
    this.mayRecord = SqlFile.load("transaction/may_record", parts);
    this.recordFailure = SqlFile.load("transaction/record_failure", parts);
    this.findOwner = SqlFile.load("transaction/find_owner", parts);
    Map<String, String> recording =
        with(parts, "reference", deleted.map(name -> refer(parts, name, value, "1")).orElse(""));
    this.record = store.loadLast("transaction/record", recording);
    this.recordAtCommit =
        store.loadLast(
            "transaction/record",
            with(recording, "use", SqlFile.load("transaction/claim_at_commit", recording)));

    Map<String, String> batch =
        with(parts, "wake", wakes ? SqlFile.load("maintenance/wake_batch", parts) : "");
    batch.put("time_line", store.sameTimeLineOfEach);
    batch.put("resource", created.map(name -> resourceInBatch(name, idType)).orElse(""));
    this.releaseBatch = SqlFile.load("settle/release_batch", batch);
    this.completeBatch =
        deleted.isPresent()
            ? Optional.empty()
            : Optional.of(SqlFile.load("settle/complete_batch", batch));
  }

  private static String quoted(String column) {
    return '"' + column + '"';
  }

  private static Map<String, String> with(Map<String, String> parts, String name, String value) {
    Map<String, String> changed = new HashMap<>(parts);
    changed.put(name, value);
    return changed;
  }

  private static String update(Map<String, String> parts, String resource, String timeLine) {
    return SqlFile.load(
        "settle/update", with(with(parts, "resource", resource), "time_line", timeLine));
  }

  private static String refer(
      Map<String, String> parts, String column, String value, String attempt) {
    return SqlFile.load(
        "settle/refer",
        with(with(with(parts, "column", column), "value", value), "attempt", attempt));
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
    return selectRecord(procedure, status(procedure), Map.of("schema", schema));
  }

  private static String selectRecord(
      RecordedProcedure procedure, String status, Map<String, String> parts) {
    String resource =
        procedure.resourceType().map(type -> "k." + quoted(type.column())).orElse("NULL::text");
    return SqlFile.load(
        "claim/select_record", with(with(parts, "resource", resource), "status", status));
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
