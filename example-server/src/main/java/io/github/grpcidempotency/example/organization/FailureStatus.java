package io.github.grpcidempotency.example.organization;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.postgresql.util.PSQLState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a client is told of an exception: never more than it may know. */
final class FailureStatus {
  private static final Logger log = LoggerFactory.getLogger(FailureStatus.class);

  private FailureStatus() {}

  static StatusRuntimeException of(RuntimeException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof StatusRuntimeException status) {
        return status;
      }
      if (cause instanceof SQLException sql) {
        return ofDatabase(sql);
      }
    }
    return internal(failure);
  }

  private static StatusRuntimeException ofDatabase(SQLException failure) {
    String state = String.valueOf(failure.getSQLState());
    if (state.equals(PSQLState.UNIQUE_VIOLATION.getState())) {
      return Status.ALREADY_EXISTS.withDescription("it already exists").asRuntimeException();
    }
    if (state.equals(PSQLState.FOREIGN_KEY_VIOLATION.getState())) {
      return Status.NOT_FOUND.withDescription("the parent is gone").asRuntimeException();
    }
    if (failure instanceof SQLTransientConnectionException || PSQLState.isConnectionError(state)) {
      log.warn("The database cannot be reached: {}", failure.getMessage());
      return Status.UNAVAILABLE
          .withDescription("the database cannot be reached")
          .asRuntimeException();
    }
    return internal(failure);
  }

  private static StatusRuntimeException internal(Exception failure) {
    log.error("A call failed", failure);
    return Status.INTERNAL.withDescription("the server made a mistake").asRuntimeException();
  }
}
