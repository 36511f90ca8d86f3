package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The statements of one procedure: those that name its resource's column, carry its outbox query,
 * or wake its waiting duplicates.
 */
final class ProcedureSql {
  private static final String NO_STATUS = "CAST(NULL AS text[])";
  private static final String RESOURCE_OF_RECORD = "idempotency_record.idempotency_record_resource";
  private static final String ASYNCHRONOUS_COMMIT =
      ", set_config('synchronous_commit', 'off', true)";

  /**
   * The first two entries: none, one, or too many. An entry that says nothing reads as an unknown
   * word, and is not taken for no entry.
   */
  private static final String FOUND_STATUS =
      """
      ARRAY(SELECT COALESCE(CAST(found.status AS text), '')
        FROM (${query}
             ) AS found (status) LIMIT 2)\
      """;

  private final Map<String, String> names = new HashMap<>();

  private final String claim;
  private final String claimWithoutStatus;
  private final String find;
  private final String findWithoutStatus;
  private final String reclaim;
  private final String complete;
  private final String completeWithoutResource;
  private final String release;
  private final String claimInTransaction;
  private final Optional<String> rollbackWithStatus;
  private final String recordAndCommit;
  private final String recordFailure;
  private final String wake;

  ProcedureSql(Procedure procedure, String schema) {
    names.put("schema", schema);
    names.put(
        "durability",
        procedure.execution() == Execution.RESERVED_SAME_DATABASE ? ASYNCHRONOUS_COMMIT : "");
    this.wake = procedure.inFlightPolicy().attaches() ? load("wake") : "";
    names.put("wake", wake);
    names.put("look", look(procedure, schema, NO_STATUS));
    this.claimWithoutStatus = load("claim");
    this.findWithoutStatus = load("find");
    this.claimInTransaction = load("claim_in_transaction");
    this.reclaim = load("reclaim");
    names.put("look", look(procedure, schema));
    this.claim = load("claim");
    this.find = load("find");
    this.rollbackWithStatus =
        outbox(procedure)
            .map(outbox -> SqlFile.load("rollback_with_status", Map.of("outbox", outbox)));
    this.release = load("release");
    this.recordFailure = load("record_failure");
    names.put("resource", "");
    this.completeWithoutResource = load("complete");
    String column = procedure.resourceType().map(type -> type.column()).orElse("");
    names.put("resource", column.isEmpty() ? "" : column + " = CAST(:resource_id AS uuid),");
    names.put("column", column.isEmpty() ? "" : column + ",");
    names.put("value", column.isEmpty() ? "" : "CAST(:resource_id AS uuid),");
    this.complete = load("complete");
    this.recordAndCommit = load("record_and_commit");
  }

  /** Reserves, or looks. */
  String claim() {
    return claim;
  }

  /** Reserves, or looks, for when the outbox query fails. */
  String claimWithoutStatus() {
    return claimWithoutStatus;
  }

  /** Looks, and writes nothing. */
  String find() {
    return find;
  }

  /** Looks, and writes nothing, for when the outbox query fails. */
  String findWithoutStatus() {
    return findWithoutStatus;
  }

  /** Replaces what has expired, or looks. */
  String reclaim() {
    return reclaim;
  }

  /** Records an answer with its resource. */
  String complete() {
    return complete;
  }

  /** Records an answer without a resource. */
  String completeWithoutResource() {
    return completeWithoutResource;
  }

  /** Deletes the reservation. */
  String release() {
    return release;
  }

  /** Takes the operation's advisory lock if it is free, and then looks. */
  String claimInTransaction() {
    return claimInTransaction;
  }

  /** Asks the outbox for a resource's status and rolls back; empty if there is no outbox. */
  Optional<String> rollbackWithStatus() {
    return rollbackWithStatus;
  }

  /** Records a response and commits it together with the handler's effect. */
  String recordAndCommit() {
    return recordAndCommit;
  }

  /** Records a terminal error after the handler's effect was rolled back. */
  String recordFailure() {
    return recordFailure;
  }

  /** Wakes waiting duplicates; empty if none ever wait. */
  String wake() {
    return wake;
  }

  /** Returns the SELECT at the end of a claim. */
  static String look(Procedure procedure, String schema) {
    return look(
        procedure,
        schema,
        procedure
            .resourceType()
            .flatMap(type -> status(procedure, RESOURCE_OF_RECORD))
            .orElse(NO_STATUS));
  }

  /** Returns a SELECT of what the outbox says of a resource; empty if there is no outbox. */
  static Optional<String> outbox(Procedure procedure) {
    return status(procedure, "CAST(:resource_id AS uuid)")
        .map(status -> "SELECT " + status + " AS outbox_status");
  }

  /** Returns the outbox query for a resource; empty if there is none. */
  private static Optional<String> status(Procedure procedure, String resourceId) {
    return procedure
        .statusResolver()
        .filter(OutboxStatusResolver.class::isInstance)
        .map(OutboxStatusResolver.class::cast)
        .map(outbox -> FOUND_STATUS.replace("${query}", outbox.queryFor(resourceId)));
  }

  private static String look(Procedure procedure, String schema, String status) {
    String resource =
        procedure.resourceType().map(type -> "k." + type.column()).orElse("NULL::uuid");
    return SqlFile.load("look", Map.of("schema", schema, "resource", resource, "status", status));
  }

  private String load(String name) {
    return SqlFile.load(name, names);
  }
}
