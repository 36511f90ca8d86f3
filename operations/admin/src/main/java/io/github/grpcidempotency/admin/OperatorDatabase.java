package io.github.grpcidempotency.admin;

import io.github.grpcidempotency.admin.AdministrationException.Problem;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/**
 * Runs statements as an operator's role, each in a separate transaction, and explains failures.
 * Keeps no state in a session, so a pooler can pool transactions. Thread-safe.
 */
final class OperatorDatabase {
  private static final int ATTEMPTS = 3;

  /** {@code serialization_failure}, {@code deadlock_detected}. */
  private static final Set<String> CONFLICTS = Set.of("40001", "40P01");

  private final Jdbi jdbi;
  private final String schema;
  private final ConcurrentHashMap<String, String> statements = new ConcurrentHashMap<>();

  OperatorDatabase(DataSource operator, String schema) {
    this.jdbi = Jdbi.create(operator);
    this.schema = schema;
  }

  /** Returns the statement in a file. */
  String sql(String name) {
    return statements.computeIfAbsent(name, file -> SqlFile.load(file, schema));
  }

  /**
   * Runs work that needs a right, in a transaction. The work is repeated after a conflict with
   * another transaction.
   *
   * @throws AdministrationException if it fails
   */
  <T> T run(Right right, Function<Handle, T> work) {
    for (int attempt = 1; ; attempt++) {
      Session session = new Session();
      try {
        return inTransaction(session, work);
      } catch (JdbiException failure) {
        String state = sqlState(failure);
        if (attempt == ATTEMPTS || !CONFLICTS.contains(state)) {
          throw explained(failure, state, right, session);
        }
      }
    }
  }

  private <T> T inTransaction(Session session, Function<Handle, T> work) {
    return jdbi.withHandle(
        handle -> {
          session.opened(handle);
          if (!handle.isInTransaction()) {
            return handle.inTransaction(work::apply);
          }
          // In a pool without autocommit, Jdbi would assume that an outer transaction is open.
          try {
            T result = work.apply(handle);
            handle.commit();
            return result;
          } catch (RuntimeException failure) {
            handle.rollback();
            throw failure;
          }
        });
  }

  private AdministrationException explained(
      JdbiException failure, String state, Right right, Session session) {
    if (failure instanceof ConnectionException
        || state.startsWith("08")
        || state.startsWith("57P")) {
      return exception(
          Problem.UNREACHABLE, "the database cannot be reached: " + reason(failure), failure);
    }
    return switch (state) {
      case "42501" ->
          ownerOf(right)
              .map(owner -> right.missing(session.role(), schema, owner))
              .map(message -> exception(Problem.RIGHT_MISSING, message, failure))
              .orElseGet(() -> tooOld(right, failure));
      case "25006" ->
          exception(
              Problem.READ_ONLY,
              "the database accepts no writes (it is a standby, or default_transaction_read_only is"
                  + " on): connect to the primary",
              failure);
      case "3F000" ->
          exception(
              Problem.SCHEMA_MISSING,
              ("there is no schema %s in this database: use another schema name, or run idempotency"
                      + " migrate --schema %s as the role that is to own it")
                  .formatted(schema, schema),
              failure);
      case "42883" -> tooOld(right, failure);
      case "55P03" ->
          exception(
              Problem.OTHER,
              ("could not %s: another session has locked a table of the schema %s for longer than"
                      + " two seconds. Find the session in pg_locks, and run this again after its"
                      + " transaction has ended")
                  .formatted(right.what(), schema),
              failure);
      default ->
          exception(
              Problem.OTHER, "could not %s: %s".formatted(right.what(), reason(failure)), failure);
    };
  }

  private AdministrationException tooOld(Right right, JdbiException failure) {
    return exception(
        Problem.SCHEMA_TOO_OLD,
        ("the schema %s is of an earlier release and lacks a function that is needed to %s: run"
                + " idempotency migrate --schema %s --user %s")
            .formatted(schema, right.what(), schema, ownerOfTable().orElse("OWNER")),
        failure);
  }

  /** Returns the owner of the function that grants a right; empty if the schema has none. */
  private Optional<String> ownerOf(Right right) {
    return owner("grant_owner", Map.of("grant", right.grant()));
  }

  private Optional<String> ownerOfTable() {
    return owner("table_owner", Map.of());
  }

  private Optional<String> owner(String statement, Map<String, String> values) {
    try {
      return jdbi.withHandle(
          handle ->
              handle.createQuery(sql(statement)).bindMap(values).mapTo(String.class).findFirst());
    } catch (JdbiException unreadable) {
      return Optional.of("the schema's owner");
    }
  }

  /**
   * Creates the exception without Jdbi's exception, whose message contains the parameters, and so
   * the key.
   */
  private static AdministrationException exception(
      Problem problem, String message, JdbiException failure) {
    return new AdministrationException(problem, message, sqlException(failure));
  }

  /** Returns the first line of the driver's message. */
  private static String reason(JdbiException failure) {
    return sqlException(failure)
        .map(SQLException::getMessage)
        .map(message -> message.lines().findFirst().orElse(message))
        .orElse(failure.getClass().getSimpleName());
  }

  private static String sqlState(JdbiException failure) {
    return sqlException(failure).map(SQLException::getSQLState).orElse("");
  }

  private static Optional<SQLException> sqlException(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sqlException) {
        return Optional.of(sqlException);
      }
    }
    return Optional.empty();
  }

  /** The connected role, for the message of a failure. */
  private static final class Session {
    private String role = "of this connection";

    void opened(Handle handle) {
      try {
        role = handle.getConnection().getMetaData().getUserName();
      } catch (SQLException unknown) {
        role = "of this connection";
      }
    }

    String role() {
      return role;
    }
  }
}
