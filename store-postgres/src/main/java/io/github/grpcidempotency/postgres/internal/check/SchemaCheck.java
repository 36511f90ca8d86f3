package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.postgres.internal.migration.SchemaObjects;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import io.github.grpcidempotency.spi.ShardMark;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds problems of the table, its rights, its columns, and the outbox queries. */
public final class SchemaCheck {
  private static final Logger logger = LoggerFactory.getLogger(SchemaCheck.class);

  /** The last migration that servers need; later ones are for operators. */
  private static final int NEEDED_VERSION = 2;

  /** The key whose record, which does not exist, an outbox query is tried with. */
  private static final IdempotencyKey NOBODYS =
      new IdempotencyKey(Caller.of(new UUID(0, 0)), "idempotency/check");

  private final Connection connection;
  private final String schema;

  public SchemaCheck(Connection connection, String schema) {
    this.connection = connection;
    this.schema = schema;
  }

  /** The tables that exist, and whether the role may read the facts about the schema. */
  record Tables(boolean keys, boolean facts, boolean readable) {}

  Tables tables() {
    return rows(
            "check/tables",
            row ->
                new Tables(
                    row.getBoolean("has_keys"),
                    row.getBoolean("has_facts"),
                    row.getBoolean("readable")))
        .get(0);
  }

  /** Returns the problem of a schema without the migrations that servers need. */
  Optional<String> missing(Tables tables) {
    if (!tables.keys() && !tables.facts()) {
      return Optional.of(
          ("the table %s.idempotency_keys does not exist; migrate it with IdempotencySchema, or"
                  + " idempotency migrate, as the role that is to own it")
              .formatted(schema));
    }
    Optional<Integer> version =
        tables.readable() ? fact("version").map(Integer::valueOf) : Optional.empty();
    if (version.isPresent() && version.get() < NEEDED_VERSION) {
      return Optional.of(
          ("the schema %s is of an earlier release: its version is %d, and this server needs %d;"
                  + " migrate it with IdempotencySchema, or idempotency migrate, before this server"
                  + " starts")
              .formatted(schema, version.get(), NEEDED_VERSION));
    }
    return missingObjects()
        .or(
            () ->
                tables.readable() && version.isEmpty()
                    ? Optional.of("the row version of the table idempotency_facts")
                    : Optional.empty())
        .map(lacking -> SchemaObjects.damage(schema, lacking));
  }

  private Optional<String> missingObjects() {
    return StatementBatch.runForRows(
            connection,
            SchemaObjects.missing(schema, NEEDED_VERSION),
            values -> values,
            row -> Optional.ofNullable(row.getString(1)))
        .get(0);
  }

  /** Returns the problem of a database that contains the name of another shard. */
  Optional<String> otherShard(String shard) {
    return ShardMark.problem(shard, fact("shard"));
  }

  private Optional<String> fact(String name) {
    return StatementBatch.run(
        connection,
        load("check/fact"),
        values -> values.bind("name", name),
        row -> row.getString(1));
  }

  /** Returns the problems of the schema and of the rights in it. */
  public List<String> problems() {
    return rows("check/schema", row -> row.getString(1));
  }

  private <T> List<T> rows(String check, StatementBatch.RowReader<T> reader) {
    return StatementBatch.runForRows(
        connection, load(check), values -> values.bind("schema", schema), reader);
  }

  /** Returns the problem of the column for a procedure's resource, given the types by name. */
  Optional<String> problemOfColumn(RecordedProcedure procedure, Map<String, String> columns) {
    if (procedure.resourceType().isEmpty()) {
      return Optional.empty();
    }
    ResourceType resource = procedure.resourceType().get();
    String type = columns.get(resource.column());
    if (type == null) {
      return Optional.of(
          ("%s.idempotency_keys has no column %s with a foreign key; call"
                  + " %s.add_resource_type('%s', …) in a migration")
              .formatted(schema, resource.column(), schema, resource.name()));
    }
    if (ResourceIdType.ofSql(type).isEmpty()) {
      return Optional.of(
          "%s.idempotency_keys.%s has the type %s; a resource id is a uuid, bigint, integer or text"
              .formatted(schema, resource.column(), type));
    }
    return procedure
        .integerIdField()
        .filter(field -> !type.equals("bigint") && !type.equals("integer"))
        .map(
            field ->
                ("its resource id is the field \"%s\", but %s.idempotency_keys.%s has the type %s;"
                        + " name a field of that type, or add the resource type for a column of"
                        + " integers")
                    .formatted(field, schema, resource.column(), type));
  }

  /**
   * Returns the problem of a procedure's outbox query, which is part of its claims: the database
   * plans it, so that a wrong query fails at start-up rather than in a replay.
   */
  Optional<String> brokenOutbox(RecordedProcedure procedure, ProcedureSql sql) {
    try {
      StatementBatch.run(connection, sql.find, values -> values.bindKey(NOBODYS));
      return Optional.empty();
    } catch (JdbiException failure) {
      if (Failures.isCutOff(failure)) {
        throw failure; // the failure is not caused by the query
      }
      if (Failures.isInvalidText(failure)) {
        logger.warn(
            "the outbox query of {} could not be checked, because it does not accept an empty"
                + " tenant or project",
            procedure.name(),
            failure);
        return Optional.empty();
      }
      Throwable cause = failure.getCause() == null ? failure : failure.getCause();
      return Optional.of("its outbox query fails: " + cause.getMessage());
    }
  }

  private String load(String check) {
    return SqlFiles.of(schema).load(check);
  }
}
