package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.SetupException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;

/** Looks for all that would make the store fail, or leak, later; reports every problem at once. */
final class StartupCheck {
  private final Handle handle;
  private final String schema;
  private final List<String> problems = new ArrayList<>();

  StartupCheck(Handle handle, String schema) {
    this.handle = handle;
    this.schema = schema;
  }

  /**
   * Runs every check.
   *
   * @throws SetupException listing what is wrong
   */
  boolean run(Collection<Procedure> procedures) {
    checkAutocommit();
    if (checkTable()) {
      checkSchema();
      boolean readable = problems.isEmpty();
      List<Procedure> wellReferenced = procedures.stream().filter(this::checkResource).toList();
      if (readable) {
        wellReferenced.forEach(this::tryLook);
      }
    }
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
    return true;
  }

  private void checkAutocommit() {
    try {
      Connection connection = handle.getConnection();
      if (!connection.getAutoCommit()) {
        problems.add("the pool's connections must be in autocommit mode");
      }
    } catch (SQLException failure) {
      problems.add("the connection's autocommit mode cannot be read: " + failure.getMessage());
    }
  }

  private boolean checkTable() {
    boolean exists =
        handle
            .createQuery(SqlFile.load("check_table", Map.of()))
            .bind("schema", schema)
            .mapTo(Boolean.class)
            .one();
    if (!exists) {
      problems.add(
          "the table %s.idempotency_keys does not exist; migrate it with IdempotencySchema"
              .formatted(schema));
    }
    return exists;
  }

  private void checkSchema() {
    problems.addAll(
        handle
            .createQuery(SqlFile.load("check_schema", Map.of("schema", schema)))
            .bind("schema", schema)
            .mapTo(String.class)
            .list());
  }

  private boolean checkResource(Procedure procedure) {
    return procedure.resourceType().map(type -> checkColumn(procedure, type)).orElse(true);
  }

  private boolean checkColumn(Procedure procedure, ResourceType type) {
    boolean exists =
        handle
            .createQuery(SqlFile.load("check_column", Map.of("schema", schema)))
            .bind("schema", schema)
            .bind("column", type.column())
            .mapTo(Boolean.class)
            .one();
    if (!exists) {
      problems.add(
          "%s: the table has no column %s with a foreign key; call %s.add_resource_type('%s', …)"
              .formatted(procedure.name(), type.column(), schema, type.name()));
    }
    return exists;
  }

  /** The outbox query is part of the look: a wrong one shows here rather than in a replay. */
  private void tryLook(Procedure procedure) {
    try {
      handle
          .createQuery(ProcedureSql.look(procedure, schema))
          .bind("key", "")
          .bind("user", new UUID(0, 0).toString())
          .mapToMap()
          .list();
    } catch (JdbiException failure) {
      if (Failures.isCutOff(failure)) {
        throw failure; // which says nothing of the query
      }
      Throwable cause = failure.getCause() == null ? failure : failure.getCause();
      problems.add(procedure.name() + ": its outbox query fails: " + cause.getMessage());
    }
  }
}
