package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.SqlFiles;
import io.github.grpcidempotency.resource.ResourceType;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ResourceIdType;
import io.github.grpcidempotency.spi.ShardMark;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.SqlStatements;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds problems of the table, its rights, its columns, and the outbox queries. */
public final class SchemaCheck {
  private static final Logger logger = LoggerFactory.getLogger(SchemaCheck.class);

  /** The last migration that servers need; later ones are for operators. */
  private static final int NEEDED_VERSION = 2;

  private final Handle handle;
  private final String schema;

  public SchemaCheck(Handle handle, String schema) {
    this.handle = handle;
    this.schema = schema;
  }

  /** The tables that exist, and whether the role may read the facts about the schema. */
  record Tables(boolean keys, boolean facts, boolean readable) {}

  Tables tables() {
    return handle
        .createQuery(load("check/tables"))
        .bind("schema", schema)
        .map(
            (row, context) ->
                new Tables(
                    row.getBoolean("has_keys"),
                    row.getBoolean("has_facts"),
                    row.getBoolean("readable")))
        .one();
  }

  /** Returns the problem of a schema without the migrations that servers need. */
  Optional<String> missing(Tables tables) {
    if (!tables.keys()) {
      return Optional.of(
          ("the table %s.idempotency_keys does not exist; migrate it with IdempotencySchema, or"
                  + " idempotency migrate, as the role that is to own it")
              .formatted(schema));
    }
    int version = !tables.facts() ? 0 : tables.readable() ? version() : NEEDED_VERSION;
    return version >= NEEDED_VERSION
        ? Optional.empty()
        : Optional.of(
            ("the schema %s is of an earlier release: its version is %d, and this server needs %d;"
                    + " migrate it with IdempotencySchema, or idempotency migrate, before this server"
                    + " starts")
                .formatted(schema, version, NEEDED_VERSION));
  }

  private int version() {
    return fact("version").map(Integer::valueOf).orElse(0);
  }

  /** Returns the problem of a database that contains the name of another shard. */
  Optional<String> otherShard(String shard) {
    return ShardMark.problem(shard, fact("shard"));
  }

  private Optional<String> fact(String name) {
    return handle.createQuery(load("check/fact")).bind("name", name).mapTo(String.class).findOne();
  }

  /** Returns the problems of the schema and of the rights in it. */
  public List<String> problems() {
    return handle
        .createQuery(load("check/schema"))
        .bind("schema", schema)
        .mapTo(String.class)
        .list();
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
  Optional<String> brokenOutbox(RecordedProcedure procedure) {
    try {
      // The settings of the query hold for the transaction.
      return handle.inTransaction(
          transaction -> {
            ofNobody("SELECT true" + ProcedureSql.settings(procedure)).mapTo(Boolean.class).list();
            ofNobody(ProcedureSql.selectRecord(procedure, schema))
                .bind("key", "")
                .mapToMap()
                .list();
            return Optional.empty();
          });
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

  /** Returns a query as of a caller without a tenant and a project. */
  private Query ofNobody(String sql) {
    return handle
        .createQuery(sql)
        .configure(SqlStatements.class, bindings -> bindings.setUnusedBindingAllowed(true))
        .bind("user", new UUID(0, 0).toString())
        .bind("tenant", "")
        .bind("project", "");
  }

  private String load(String check) {
    return SqlFiles.of(schema).load(check);
  }
}
