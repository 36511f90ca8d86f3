package io.github.grpcidempotency.postgres.internal.sql;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** Classifies failures of the database, by SQLSTATE and by the step that failed. */
public final class Failures {
  /** {@code in_failed_sql_transaction}. */
  public static final String FAILED_TRANSACTION = "25P02";

  private static final String FOREIGN_KEY_VIOLATION = "23503";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";
  private static final String INVALID_TEXT = "22P02";
  private static final String SERIALIZATION_FAILURE = "40001";
  private static final String TOO_MANY_CONNECTIONS = "53300";
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  /** Of the function {@code refuse_claim}: the key is not free. */
  private static final String CLAIM_REFUSED = "IK001";

  /** Of the function {@code refuse_commit}: another call owns the key. */
  private static final String CLAIM_LOST = "IK002";

  /** Of {@code refuse_commit}: the snapshot may be older than the row's last renewal. */
  private static final String STALE_SNAPSHOT = "IK003";

  /** Of {@code refuse_commit}: the current transaction is not that of the claim. */
  private static final String TRANSACTION_ENDED = "IK004";

  /**
   * The database returns this code on a connection that stays open. PgBouncer returns it as well
   * when it has lost the database; PgBouncer then closes the connection, so the code counts as
   * fatal.
   */
  private static final String PROTOCOL_VIOLATION = "08P01";

  /** {@code connection_does_not_exist}, {@code connection_failure}. */
  private static final Set<String> BROKEN_CONNECTIONS = Set.of("08003", "08006");

  /** {@code admin_shutdown}, {@code crash_shutdown}, {@code cannot_connect_now}. */
  private static final Set<String> SHUTDOWNS = Set.of("57P01", "57P02", "57P03");

  /** The PostgreSQL routine that reports that a new row violates a policy. */
  private static final String ROW_SECURITY_ROUTINE = "ExecWithCheckOptions";

  /** The constraint of the table, or of one of its partitions. */
  private static final Pattern KEY_CONSTRAINT = Pattern.compile("idempotency_keys(_p\\d+)?_key");

  /**
   * Part of HikariCP's message if the pool has no connection at all. If all connections are in use,
   * the total is greater.
   */
  private static final String NO_CONNECTIONS = "(total=0,";

  private Failures() {}

  /** Returns the store's exception for an operation that is not a claim. */
  public static StoreException of(String message, JdbiException failure) {
    return StoreException.of(FailurePhase.HANDLER_DONE, causeOf(failure), message)
        .initCause(failure);
  }

  /**
   * Returns a host's failure to begin a transaction as a failure to connect to the database.
   * Failures that the database did not cause are returned as they are, and so is a broken
   * connection that the host's pool still held.
   */
  public static JdbiException ofBegin(RuntimeException failure) {
    if (failure instanceof JdbiException known) {
      return known;
    }
    boolean unreached = chain(failure, SQLException.class).findAny().isPresent();
    boolean waited = chain(failure, SQLTransientConnectionException.class).findAny().isPresent();
    return unreached && (waited || !BROKEN_CONNECTIONS.contains(sqlState(failure)))
        ? new ConnectionException(failure)
        : new TransactionException(
            "the host's transaction manager could not begin a transaction", failure);
  }

  public static JdbiException ofCommit(Throwable failure) {
    return failure instanceof JdbiException known
        ? known
        : new TransactionException(
            "the host's transaction manager could not commit a transaction", failure);
  }

  /** Returns the driver's exception as one of Jdbi. */
  public static JdbiException asJdbiException(SQLException failure) {
    return new UnableToExecuteStatementException(failure, null);
  }

  /** Returns the exception for a caller that does not use Jdbi: the driver's exception if known. */
  public static SQLException asSqlException(JdbiException failure) {
    return failure.getCause() instanceof SQLException thrown ? thrown : new SQLException(failure);
  }

  /** Returns the cause; never {@code NO_CONNECTION}, of which no failure alone is a proof. */
  public static FailureCause causeOf(JdbiException failure) {
    String state = sqlState(failure);
    if (SHUTDOWNS.contains(state)) {
      return FailureCause.SHUTTING_DOWN;
    }
    if (!isConnected(failure)) {
      return causeOfNoConnection(failure, state);
    }
    return isHungUp(failure) ? FailureCause.CONNECTION_LOST : causeOf(state);
  }

  private static boolean isHungUp(JdbiException failure) {
    return serverError(failure)
        .filter(error -> PROTOCOL_VIOLATION.equals(error.getSQLState()))
        .map(ServerErrorMessage::getSeverity)
        .filter("FATAL"::equals)
        .isPresent();
  }

  private static FailureCause causeOf(String state) {
    return switch (state) {
      case PROTOCOL_VIOLATION -> FailureCause.OTHER;
      case LOCK_NOT_AVAILABLE -> FailureCause.CONTENTION;
      case "40003" -> FailureCause.CONNECTION_LOST; // statement_completion_unknown
      case "25006" -> FailureCause.READ_ONLY; // read_only_sql_transaction
      // query_canceled, idle_in_transaction_session_timeout, transaction_timeout
      case "57014", "25P03", "25P04" -> FailureCause.TIMEOUT;
      // insufficient_privilege, undefined_table, undefined_column, undefined_function,
      // invalid_schema_name, disk_full
      case "42501", "42P01", "42703", "42883", "3F000", "53100" -> FailureCause.BROKEN;
      default ->
          state.startsWith("08") || state.startsWith("57P")
              ? FailureCause.CONNECTION_LOST
              : state.startsWith("40") ? FailureCause.CONTENTION : FailureCause.OTHER;
    };
  }

  private static FailureCause causeOfNoConnection(JdbiException failure, String state) {
    if (state.isEmpty() || state.equals(TOO_MANY_CONNECTIONS) || mayHaveConnections(failure)) {
      return FailureCause.POOL_EXHAUSTED;
    }
    return hasFoundNoPrimary(failure) ? FailureCause.NO_PRIMARY : FailureCause.NO_LOGIN;
  }

  /** The driver translates the message, but not these words. */
  private static boolean hasFoundNoPrimary(JdbiException failure) {
    return chain(failure, PSQLException.class)
        .map(thrown -> String.valueOf(thrown.getMessage()))
        .anyMatch(message -> message.contains("targetServerType") && message.contains("primary"));
  }

  /**
   * Returns whether an attempt to connect failed because a host accepted no TCP connection. A
   * refused login shows that the database answers. An accepted connection shows that a server
   * exists, even if that server does not answer.
   */
  public static boolean mayBeOutage(JdbiException failure) {
    return causeOf(failure) == FailureCause.NO_LOGIN
        && Throwables.getCausalChain(failure).stream().anyMatch(Failures::isFailureToConnect);
  }

  /**
   * Returns whether a pool may have connections in use although the wait for a connection timed
   * out. If a later version of HikariCP changes its message, calls are refused.
   */
  private static boolean mayHaveConnections(JdbiException failure) {
    return chain(failure, SQLTransientConnectionException.class)
        .anyMatch(waited -> !String.valueOf(waited.getMessage()).contains(NO_CONNECTIONS));
  }

  /**
   * Returns whether no server accepts a connection at the address: the name is unknown, or TCP
   * fails.
   */
  private static boolean isFailureToConnect(Throwable failure) {
    return failure instanceof ConnectException
        || failure instanceof NoRouteToHostException
        || failure instanceof UnknownHostException
        || (failure instanceof SocketTimeoutException && isThrownByConnect(failure));
  }

  /** A read timeout throws the same class, but only after a server has accepted the connection. */
  private static boolean isThrownByConnect(Throwable failure) {
    return Stream.of(failure.getStackTrace())
        .anyMatch(
            frame ->
                frame.getClassName().equals(Socket.class.getName())
                    && frame.getMethodName().equals("connect"));
  }

  /**
   * Returns whether the connection broke while it was used. The statements that were sent may have
   * been executed.
   */
  public static boolean isCutOff(JdbiException failure) {
    return isConnected(failure) && isCut(causeOf(failure));
  }

  /**
   * Returns whether a connection broke, or was refused because the database is starting or
   * stopping.
   */
  public static boolean isCut(FailureCause cause) {
    return cause == FailureCause.CONNECTION_LOST || cause == FailureCause.SHUTTING_DOWN;
  }

  /**
   * Returns whether statements in front of a commit have refused it, as the key has a new owner.
   */
  public static boolean isClaimLost(JdbiException failure) {
    return sqlState(failure).equals(CLAIM_LOST);
  }

  /** Returns whether they have refused it because the transaction has not locked the row. */
  public static boolean isStaleSnapshot(JdbiException failure) {
    return sqlState(failure).equals(STALE_SNAPSHOT);
  }

  /** Returns whether they have refused it because the handler has ended the claim's transaction. */
  public static boolean isTransactionEnded(JdbiException failure) {
    return sqlState(failure).equals(TRANSACTION_ENDED);
  }

  /**
   * Returns whether a transaction's snapshot is older than the row that the transaction tried to
   * change.
   */
  public static boolean isSerializationFailure(JdbiException failure) {
    return sqlState(failure).equals(SERIALIZATION_FAILURE);
  }

  /** Returns whether the transaction can only be rolled back, because a statement had failed. */
  public static boolean isOfFailedTransaction(JdbiException failure) {
    return sqlState(failure).equals(FAILED_TRANSACTION);
  }

  /** Returns whether another claim of the key won, or the transaction can be retried. */
  public static boolean isLostRace(JdbiException failure) {
    return (causeOf(failure) == FailureCause.CONTENTION && !isLockTimeout(failure))
        || isTakenKey(failure)
        || sqlState(failure).equals(CLAIM_REFUSED);
  }

  public static boolean isLockTimeout(JdbiException failure) {
    return sqlState(failure).equals(LOCK_NOT_AVAILABLE);
  }

  private static boolean isTakenKey(JdbiException failure) {
    return serverError(failure)
        .map(ServerErrorMessage::getConstraint)
        .filter(constraint -> KEY_CONSTRAINT.matcher(constraint).matches())
        .isPresent();
  }

  private static Optional<ServerErrorMessage> serverError(JdbiException failure) {
    return chain(failure, PSQLException.class)
        .flatMap(psql -> Stream.ofNullable(psql.getServerErrorMessage()))
        .findFirst();
  }

  /**
   * Returns whether row-level security rejected a row. A missing privilege has the same SQLSTATE.
   */
  public static boolean violatesRowSecurity(JdbiException failure) {
    return serverError(failure)
        .map(ServerErrorMessage::getRoutine)
        .filter(ROW_SECURITY_ROUTINE::equals)
        .isPresent();
  }

  /**
   * Returns whether the current role must not run a statement: it lacks a right, or the statement
   * needs row-level security to be on.
   */
  public static boolean isForbidden(StoreException failure) {
    return failure.failureCause() == FailureCause.BROKEN
        && sqlState(failure).equals(INSUFFICIENT_PRIVILEGE);
  }

  /** Returns whether a text could not be converted, such as an empty tenant to a number. */
  public static boolean isInvalidText(JdbiException failure) {
    return sqlState(failure).equals(INVALID_TEXT);
  }

  public static boolean isForeignKeyViolation(JdbiException failure) {
    return sqlState(failure).equals(FOREIGN_KEY_VIOLATION);
  }

  /** Returns whether the connection existed when the operation failed. */
  static boolean isConnected(JdbiException failure) {
    return !(failure instanceof ConnectionException);
  }

  /** Returns the database's message about a refused login; empty if it did not refuse one. */
  public static Optional<String> refusedLogin(JdbiException failure) {
    return causeOf(failure) == FailureCause.NO_LOGIN
        ? serverError(failure)
            .map(error -> "%s (SQLSTATE %s)".formatted(error.getMessage(), error.getSQLState()))
        : Optional.empty();
  }

  /**
   * Returns whether the PostgreSQL driver reported what is wrong. A host may have data sources of
   * other drivers, which know nothing about the transaction of the store.
   */
  public static boolean isOfDriver(JdbiException failure) {
    return states(failure, PSQLException.class).findAny().isPresent();
  }

  static String sqlState(Throwable failure) {
    return Stream.concat(states(failure, PSQLException.class), states(failure, SQLException.class))
        .findFirst()
        .orElse("");
  }

  private static Stream<String> states(Throwable failure, Class<? extends SQLException> type) {
    return chain(failure, type).flatMap(thrown -> Stream.ofNullable(thrown.getSQLState()));
  }

  /**
   * Returns the causes of a type, nearest first, and then the suppressed exceptions. Some hosts put
   * the reason of a rollback into a suppressed exception.
   */
  private static <T extends Throwable> Stream<T> chain(Throwable failure, Class<T> type) {
    List<Throwable> causes = Throwables.getCausalChain(failure);
    return Stream.concat(
            causes.stream(),
            causes.stream()
                .flatMap(cause -> Stream.of(cause.getSuppressed()))
                .flatMap(suppressed -> Throwables.getCausalChain(suppressed).stream()))
        .filter(type::isInstance)
        .map(type::cast);
  }
}
