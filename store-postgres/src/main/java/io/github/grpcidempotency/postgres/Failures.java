package io.github.grpcidempotency.postgres;

import java.sql.SQLException;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.postgresql.util.PSQLException;

/** What a database failure means, by its SQLSTATE. */
final class Failures {
  private static final String FOREIGN_KEY_VIOLATION = "23503";
  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String QUERY_CANCELED = "57014";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";

  private static final String KEY_CONSTRAINT = "idempotency_keys_key";

  private Failures() {}

  /** Whether the connection broke while it was used: what was sent may have been done. */
  static boolean isCutOff(JdbiException failure) {
    String state = sqlState(failure);
    return isConnected(failure) && (state.startsWith("08") || state.startsWith("57P"));
  }

  /** Whether the database itself answered a statement with an error, and did nothing. */
  static boolean isFromDatabase(JdbiException failure) {
    return isConnected(failure) && !sqlState(failure).isEmpty() && !isCutOff(failure);
  }

  /** Whether a statement ran out of time, as it does where another transaction is in its way. */
  static boolean isWaitInVain(JdbiException failure) {
    String state = sqlState(failure);
    return state.equals(LOCK_NOT_AVAILABLE) || state.equals(QUERY_CANCELED);
  }

  /** Whether another claim of the same key was faster, or the transaction may be tried again. */
  static boolean isLostRace(JdbiException failure) {
    return sqlState(failure).startsWith("40") || isTakenKey(failure);
  }

  private static boolean isTakenKey(JdbiException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof PSQLException psql && psql.getServerErrorMessage() != null) {
        return KEY_CONSTRAINT.equals(psql.getServerErrorMessage().getConstraint());
      }
    }
    return false;
  }

  /** Whether row-level security, or a missing privilege, stands against a statement. */
  static boolean isForbidden(JdbiException failure) {
    return sqlState(failure).equals(INSUFFICIENT_PRIVILEGE);
  }

  /** Whether a row refers to a resource that does not exist. */
  static boolean isForeignKeyViolation(JdbiException failure) {
    return sqlState(failure).equals(FOREIGN_KEY_VIOLATION);
  }

  private static boolean isConnected(JdbiException failure) {
    return !(failure instanceof ConnectionException);
  }

  private static String sqlState(JdbiException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sqlException && sqlException.getSQLState() != null) {
        return sqlException.getSQLState();
      }
    }
    return "";
  }
}
