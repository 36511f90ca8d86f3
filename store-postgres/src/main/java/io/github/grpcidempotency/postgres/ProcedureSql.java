package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceType;
import java.util.Map;

/**
 * The statements of one procedure: those that name its resource's column, or carry its outbox
 * query.
 *
 * @param claim reserves, or looks
 * @param reclaim replaces what has expired, or looks
 * @param claimWithoutStatus the same as {@code claim}, for when the outbox query fails
 * @param complete records an answer with its resource
 * @param completeWithoutResource records an answer without one
 */
record ProcedureSql(
    String claim,
    String reclaim,
    String claimWithoutStatus,
    String complete,
    String completeWithoutResource) {

  private static final String NO_STATUS = "NULL";

  static ProcedureSql of(Procedure procedure, String schema) {
    String look = look(procedure, schema, status(procedure));
    String lookWithoutStatus = look(procedure, schema, NO_STATUS);
    return new ProcedureSql(
        SqlFile.load("claim", Map.of("schema", schema, "look", look)),
        SqlFile.load("reclaim", Map.of("schema", schema, "look", lookWithoutStatus)),
        SqlFile.load("claim", Map.of("schema", schema, "look", lookWithoutStatus)),
        SqlFile.load(
            "complete",
            Map.of(
                "schema",
                schema,
                "resource",
                procedure
                    .resourceType()
                    .map(type -> type.column() + " = CAST(:resource_id AS uuid),")
                    .orElse(""))),
        SqlFile.load("complete", Map.of("schema", schema, "resource", "")));
  }

  /** Returns the SELECT at the end of a claim, for the start-up check to try. */
  static String look(Procedure procedure, String schema) {
    return look(procedure, schema, status(procedure));
  }

  private static String look(Procedure procedure, String schema, String status) {
    String resource = procedure.resourceType().map(ProcedureSql::column).orElse("NULL::uuid");
    return SqlFile.load("look", Map.of("schema", schema, "resource", resource, "status", status));
  }

  private static String status(Procedure procedure) {
    return procedure
        .statusResolver()
        .filter(OutboxStatusResolver.class::isInstance)
        .map(OutboxStatusResolver.class::cast)
        .flatMap(outbox -> procedure.resourceType().map(type -> outbox.queryFor(column(type))))
        .orElse(NO_STATUS);
  }

  private static String column(ResourceType type) {
    return "k." + type.column();
  }
}
