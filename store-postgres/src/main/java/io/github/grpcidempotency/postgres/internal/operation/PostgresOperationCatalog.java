package io.github.grpcidempotency.postgres.internal.operation;

import static java.util.stream.Collectors.flatMapping;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.RecordRow;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.OperationCatalog;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.StoredOperation;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists operations from the table of keys: one round trip reads the rows, and another one the
 * status of their asynchronous work. Row-level security hides the operations of other users from a
 * caller. Thread-safe.
 */
public final class PostgresOperationCatalog implements OperationCatalog {
  private static final Logger logger = LoggerFactory.getLogger(PostgresOperationCatalog.class);

  /** PostgreSQL compares UUIDs as unsigned bytes, so this is the greatest one. */
  private static final UUID GREATEST = new UUID(-1, -1);

  private final RecordDatabase database;
  private final Map<String, RecordedProcedure> procedures;
  private final OutboxStatuses outbox;
  private final String findSql;
  private final String listSql;
  private final String forgetSql;

  private PostgresOperationCatalog(
      RecordDatabase database, Collection<RecordedProcedure> procedures) {
    this.database = database;
    this.procedures =
        procedures.stream().collect(toMap(RecordedProcedure::name, Function.identity()));
    this.outbox = new OutboxStatuses(database);
    this.findSql = select("k.id = ANY (:ids)");
    this.listSql = select("k.id < :before ORDER BY k.id DESC LIMIT :limit");
    this.forgetSql = database.files().load("operation/forget");
  }

  /**
   * Opens the catalog. Warns if no index supports listing, so that every listing reads the
   * operations of all users.
   */
  public static PostgresOperationCatalog open(
      RecordDatabase database, Collection<RecordedProcedure> procedures) {
    Optional<Boolean> indexed =
        database.inStore(
            "check the store",
            connection ->
                StatementBatch.run(
                    connection,
                    database.files().load("check/operation_index"),
                    values -> values.bind("schema", database.settings().schema()),
                    row -> row.getBoolean(1)));
    if (!indexed.orElse(false)) {
      logger.warn(
          "no index supports listing the operations of one user, so every listing reads the"
              + " operations of all users; call {}.add_operation_index() in a migration",
          database.settings().schema());
    }
    return new PostgresOperationCatalog(database, procedures);
  }

  /** Reads the one resource column that is set: a record refers to at most one resource. */
  private String select(String which) {
    String resources =
        procedures.values().stream()
            .flatMap(procedure -> procedure.resourceType().stream())
            .map(ResourceType::column)
            .distinct()
            .map(column -> "CAST(k.\"" + column + "\" AS text)")
            .collect(joining(", "));
    return database
        .files()
        .with("resource", resources.isEmpty() ? "NULL::text" : "COALESCE(" + resources + ")")
        .with("which", which)
        .load("operation/select_operations");
  }

  @Override
  public List<StoredOperation> find(Caller caller, Collection<UUID> operationIds) {
    return read(
        caller,
        findSql,
        procedures.keySet(),
        values -> values.bind("ids", operationIds.toArray(UUID[]::new)));
  }

  @Override
  public List<StoredOperation> list(
      Caller caller, Set<String> wanted, Optional<UUID> before, int limit) {
    Set<String> known = wanted.stream().filter(procedures::containsKey).collect(toSet());
    return read(
        caller,
        listSql,
        known,
        values -> values.bind("before", before.orElse(GREATEST)).bind("limit", limit));
  }

  @Override
  public boolean forget(Caller caller, UUID operationId) {
    return database
        .inStore(
            "forget the operation",
            connection ->
                StatementBatch.run(
                    connection,
                    forgetSql,
                    values -> scope(values, caller, procedures.keySet()).bind("id", operationId),
                    row -> row.getObject("id", UUID.class)))
        .isPresent();
  }

  @Override
  public Map<OwnedResource, IdempotencyStatus> statuses(
      RecordedProcedure procedure, Collection<OwnedResource> resources) {
    return outbox.of(procedure, resources);
  }

  private List<StoredOperation> read(
      Caller caller, String sql, Set<String> wanted, UnaryOperator<Parameters> bindings) {
    List<OperationRow> rows =
        database.inStore(
            "read operations",
            connection ->
                StatementBatch.runForRows(
                    connection,
                    sql,
                    values -> bindings.apply(scope(values, caller, wanted)),
                    OperationRow::read));
    Map<RecordedProcedure, Map<OwnedResource, IdempotencyStatus>> statuses = new HashMap<>();
    rows.stream()
        .collect(
            groupingBy(
                row -> procedures.get(row.content().procedure()),
                flatMapping(row -> row.resource(caller).stream(), toSet())))
        .forEach(
            (procedure, resources) -> statuses.put(procedure, outbox.of(procedure, resources)));
    return rows.stream()
        .map(
            row ->
                row.operation(
                    caller,
                    statuses.getOrDefault(procedures.get(row.content().procedure()), Map.of())))
        .toList();
  }

  private static Parameters scope(Parameters values, Caller caller, Set<String> procedures) {
    return values
        .bindCaller(Optional.of(caller))
        .bind("procedures", procedures.toArray(String[]::new));
  }

  /** An operation's row, as {@code select_operations.sql} returns it. */
  private record OperationRow(
      RecordRow content, String key, Instant created, Optional<Instant> completed) {

    static OperationRow read(ResultSet row) throws SQLException {
      return new OperationRow(
          RecordRow.read(row),
          row.getString("idempotency_key"),
          row.getObject("created", OffsetDateTime.class).toInstant(),
          Optional.ofNullable(row.getObject("completed", OffsetDateTime.class))
              .map(OffsetDateTime::toInstant));
    }

    /** Returns the resource whose asynchronous work may still be running. */
    Optional<OwnedResource> resource(Caller caller) {
      return content
          .resourceId()
          .filter(resource -> content.ended())
          .map(resource -> new OwnedResource(caller, resource));
    }

    StoredOperation operation(Caller caller, Map<OwnedResource, IdempotencyStatus> statuses) {
      Optional<IdempotencyStatus> status =
          resource(caller).flatMap(resource -> Optional.ofNullable(statuses.get(resource)));
      return new StoredOperation(
          new IdempotencyKey(caller, key),
          content.ended() ? content.recorded(status) : content.inFlight(),
          created,
          completed);
    }
  }
}
