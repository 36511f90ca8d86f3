package io.github.grpcidempotency.example.service.organization;

import com.google.protobuf.Any;
import com.google.protobuf.util.Durations;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.postgresql.util.PSQLState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Maps exceptions to the statuses for clients. The status contains no internal details. */
final class FailureStatus {
  private static final Logger log = LoggerFactory.getLogger(FailureStatus.class);

  private static final Metadata.Key<String> PUSHBACK =
      Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);

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
    if (failure instanceof SQLTransientConnectionException || isPassing(state)) {
      log.warn("The database cannot be used: {}", failure.getMessage());
      return unavailable("the database cannot be used at the moment", "DATABASE_UNAVAILABLE");
    }
    return internal(failure);
  }

  /**
   * Returns whether the state of the database caused the failure, and not the statement: the
   * connection broke, a resource is exhausted, another transaction conflicted, or the database is
   * read-only.
   */
  private static boolean isPassing(String state) {
    return Stream.of("08", "57P", "53", "40", "25006").anyMatch(state::startsWith);
  }

  /**
   * Returns a status with the time for a retry. It makes gRPC itself retry ({@code
   * grpc-retry-pushback-ms}) only if the call has a key: without a key, a call whose connection
   * broke during the commit may have been executed.
   */
  static StatusRuntimeException unavailable(String message, String reason) {
    long millis =
        ThreadLocalRandom.current()
            .nextLong(500, 1500); // so that clients do not retry at the same time
    Metadata trailers = new Metadata();
    if (CurrentOperation.operationId().isPresent()) {
      trailers.put(PUSHBACK, String.valueOf(millis));
    }
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(Code.UNAVAILABLE_VALUE)
            .setMessage(message)
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder().setReason(reason).setDomain("organization.v1").build()))
            .addDetails(
                Any.pack(
                    RetryInfo.newBuilder().setRetryDelay(Durations.fromMillis(millis)).build()))
            .build(),
        trailers);
  }

  private static StatusRuntimeException internal(Exception failure) {
    log.error("A call failed", failure);
    return Status.INTERNAL.withDescription("the server has an internal error").asRuntimeException();
  }
}
