package io.github.grpcidempotency.postgres.internal.sql;

import io.github.grpcidempotency.resource.ResourceIdType;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.store.RecordedProcedure;
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
  private static final String RESOURCE_OF_RECORD = "idempotency_record.idempotency_record_resource";

  /** Saves the commit mode of the handler's own transactions for claim/time_line.sql. */
  static final String ASYNCHRONOUS_COMMIT =
      ", set_config('idempotency.effects_commit', current_setting('synchronous_commit'), true)"
          + ", set_config('synchronous_commit', 'off', true)";

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
  public final String find;
  public final String reclaim;
  public final String complete;
  public final String completeWithoutResource;
  public final String releaseBatch;
  public final String release;
  public final String beginReserved;
  public final String recordFailure;
  public final ResourceIdType idType;

  /** Reads the record without the outbox query, because that has failed. */
  public final String findWithoutStatus;

  /**
   * Records the answers of several calls, with their resources; empty if the procedure deletes its
   * resources, because each such record needs statements of its own.
   */
  public final Optional<String> completeBatch;

  /** Records an answer in the handler's own transaction, or raises a {@link CommitRefusal}. */
  public final LastStatements join;

  /** Takes the operation's advisory lock if it is free, and reads the record. */
  public final String claimInTransaction;

  /** The same in front of a handler's first statement, which must not run if a row exists. */
  public final LateClaimSql claimLate;

  /**
   * Queries the outbox for a resource's status, and rolls back unless the host does; empty if there
   * is no outbox.
   */
  public final Optional<String> rollbackWithStatus;

  /**
   * Records a response together with the handler's effect. In a transaction of the host, raises a
   * {@link CommitRefusal} if the current transaction is not the claim's transaction.
   */
  public final LastStatements record;

  /**
   * Completes a reservation together with the handler's effect, or raises a {@link CommitRefusal}.
   */
  public final LastStatements recordReserved;

  /** Wakes waiting duplicates; empty if no duplicates ever wait, or if all of them poll. */
  public final String wake;

  public ProcedureSql(
      RecordedProcedure procedure,
      ResourceIdType idType,
      String schema,
      TransactionBoundaries boundaries,
      boolean notifies,
      TimeLineSql timeLine) {
    this.idType = idType;
    String value = resource(idType);
    Optional<String> column = procedure.resourceType().map(ResourceType::column);
    Optional<String> created = column.filter(name -> !procedure.deletes());
    Optional<String> deleted = column.filter(name -> procedure.deletes());
    String resource =
        created.map(name -> name + " = " + value + ",").orElse("")
            + (column.isPresent() ? NAMES : "");
    this.wake =
        procedure.awaited() && notifies
            ? SqlFile.load("maintenance/wake", Map.of("schema", schema))
            : "";
    Map<String, String> values = new HashMap<>();
    values.put("schema", schema);
    values.put("begin", boundaries.begin());
    values.put("rollback", boundaries.rollback());
    values.put("use", boundaries.use(schema));
    values.put("wake", wake);
    values.put("durability", procedure.sameDatabase() ? ASYNCHRONOUS_COMMIT : "");
    values.put("time_line", timeLine.current());
    values.put("select_record", selectRecord(procedure, schema, NO_STATUS));
    values.put("column", created.map(name -> name + ",").orElse(""));
    values.put("value", created.isPresent() ? value + "," : "");
    values.put("update", update(schema, resource, ""));
    values.put("reference", deleted.map(name -> refer(schema, name, value, ":attempt")).orElse(""));

    this.claim = SqlFile.load("claim/claim", values);
    this.find =
        SqlFile.load("claim/find", with(values, "select_record", selectRecord(procedure, schema)));
    this.findWithoutStatus = SqlFile.load("claim/find", values);
    this.reclaim = SqlFile.load("claim/reclaim", values);
    this.claimInTransaction = SqlFile.load("transaction/claim", values);
    this.claimLate = new LateClaimSql(schema, boundaries);
    this.rollbackWithStatus =
        outbox(procedure, idType)
            .map(
                outbox ->
                    SqlFile.load(
                        "transaction/rollback_with_status", with(values, "outbox", outbox)));
    this.release = SqlFile.load("settle/release", values);
    this.complete =
        SqlFile.load(
            "settle/complete", with(values, "update", update(schema, resource, timeLine.same())));
    this.completeWithoutResource =
        SqlFile.load(
            "settle/complete",
            with(with(values, "update", update(schema, "", timeLine.same())), "reference", ""));
    Map<String, String> batch =
        with(values, "wake", wake.isEmpty() ? "" : SqlFile.load("maintenance/wake_batch", values));
    this.completeBatch =
        deleted.isPresent()
            ? Optional.empty()
            : Optional.of(
                SqlFile.load(
                    "settle/complete_batch",
                    with(
                        with(batch, "time_line", timeLine.sameInBatch()),
                        "resource",
                        created.map(name -> resourceInBatch(name, idType)).orElse(""))));
    this.releaseBatch = SqlFile.load("settle/release_batch", batch);
    this.join = LastStatements.load("settle/join", values);
    this.recordFailure = SqlFile.load("transaction/record_failure", values);
    this.beginReserved = SqlFile.load("transaction/begin_reserved", values);
    this.recordReserved =
        LastStatements.load("transaction/record_reserved", values)
            .orAfterwards(SqlFile.load("settle/complete", values));
    this.record =
        LastStatements.load(
            "transaction/record",
            with(
                values,
                "reference",
                deleted.map(name -> refer(schema, name, value, "1")).orElse("")));
  }

  private static Map<String, String> with(Map<String, String> values, String name, String value) {
    Map<String, String> changed = new HashMap<>(values);
    changed.put(name, value);
    return changed;
  }

  private static String update(String schema, String resource, String timeLine) {
    return SqlFile.load(
        "settle/update", Map.of("schema", schema, "resource", resource, "time_line", timeLine));
  }

  private static String refer(String schema, String column, String value, String attempt) {
    return SqlFile.load(
        "settle/refer",
        Map.of("schema", schema, "column", column, "value", value, "attempt", attempt));
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
    return selectRecord(
        procedure,
        schema,
        procedure
            .resourceType()
            .flatMap(type -> status(procedure, RESOURCE_OF_RECORD))
            .orElse(NO_STATUS));
  }

  /** Returns a SELECT of the outbox status of a resource; empty if there is no outbox. */
  public static Optional<String> outbox(RecordedProcedure procedure, ResourceIdType type) {
    return status(procedure, resource(type))
        .map(status -> "SELECT " + status + " AS outbox_status");
  }

  /** Returns the outbox query for every resource of a list; empty if there is no outbox. */
  public static Optional<String> outboxOfEach(RecordedProcedure procedure) {
    return status(procedure, RESOURCE_OF_RECORD);
  }

  /** Returns the outbox query for a resource; empty if there is none. */
  private static Optional<String> status(RecordedProcedure procedure, String resourceId) {
    return procedure
        .outbox()
        .map(outbox -> FOUND_STATUS.replace("${query}", outbox.sql(resourceId)));
  }

  private static String selectRecord(RecordedProcedure procedure, String schema, String status) {
    String resource =
        procedure.resourceType().map(type -> "k." + type.column()).orElse("NULL::text");
    return SqlFile.load(
        "claim/select_record", Map.of("schema", schema, "resource", resource, "status", status));
  }
}
