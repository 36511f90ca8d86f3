package io.github.grpcidempotency.admin.service;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.Status;
import io.github.grpcidempotency.admin.AdministrationException;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The errors of the admin service: code, {@code ErrorInfo}, and the invalid fields of a request.
 */
final class AdminError {
  private static final Logger logger = LoggerFactory.getLogger(AdminService.class);

  private AdminError() {}

  static StatusRuntimeException of(AdminErrorReason reason) {
    return StatusProto.toStatusRuntimeException(status(reason, message(reason)).build());
  }

  static StatusRuntimeException invalid(String field, String why) {
    BadRequest details =
        BadRequest.newBuilder()
            .addFieldViolations(
                BadRequest.FieldViolation.newBuilder().setField(field).setDescription(why))
            .build();
    return StatusProto.toStatusRuntimeException(
        status(AdminErrorReason.IDEMPOTENCY_ADMIN_REQUEST_INVALID, field + ": " + why)
            .addDetails(Any.pack(details))
            .build());
  }

  /** Returns the error for the client. Details are logged only. */
  static StatusRuntimeException of(RuntimeException failure) {
    if (failure instanceof StatusRuntimeException said) {
      return said;
    }
    logger.error("a call of the admin service has failed", failure);
    return failure instanceof AdministrationException known
        ? of(known.problem())
        : io.grpc.Status.INTERNAL.asRuntimeException();
  }

  private static StatusRuntimeException of(AdministrationException.Problem problem) {
    return switch (problem) {
      case UNREACHABLE, READ_ONLY -> of(AdminErrorReason.IDEMPOTENCY_STORE_UNAVAILABLE);
      case RIGHT_MISSING, SCHEMA_MISSING, SCHEMA_TOO_OLD ->
          of(AdminErrorReason.IDEMPOTENCY_ADMIN_NOT_SET_UP);
      case OTHER -> io.grpc.Status.INTERNAL.asRuntimeException();
    };
  }

  private static Status.Builder status(AdminErrorReason reason, String message) {
    return Status.newBuilder()
        .setCode(code(reason).getNumber())
        .setMessage(message)
        .addDetails(
            Any.pack(
                ErrorInfo.newBuilder()
                    .setReason(reason.name())
                    .setDomain(WireNames.ERROR_DOMAIN)
                    .build()));
  }

  private static Code code(AdminErrorReason reason) {
    return switch (reason) {
      case IDEMPOTENCY_ADMIN_DENIED -> Code.PERMISSION_DENIED;
      case IDEMPOTENCY_ADMIN_REQUEST_INVALID -> Code.INVALID_ARGUMENT;
      case IDEMPOTENCY_OPERATION_UNKNOWN -> Code.NOT_FOUND;
      case IDEMPOTENCY_OWNER_LIVES,
          IDEMPOTENCY_OPERATION_RECORDED,
          IDEMPOTENCY_OPERATION_UNFINISHED,
          IDEMPOTENCY_ADMIN_NOT_SET_UP ->
          Code.FAILED_PRECONDITION;
      case IDEMPOTENCY_OPERATION_LOCKED -> Code.ABORTED;
      case IDEMPOTENCY_STORE_UNAVAILABLE -> Code.UNAVAILABLE;
    };
  }

  private static String message(AdminErrorReason reason) {
    return switch (reason) {
      case IDEMPOTENCY_ADMIN_DENIED -> "the caller is not allowed to do this";
      case IDEMPOTENCY_ADMIN_REQUEST_INVALID -> "the request is not valid";
      case IDEMPOTENCY_OPERATION_UNKNOWN -> "there is no such operation";
      case IDEMPOTENCY_OWNER_LIVES ->
          "the operation's lease has not ended, so its handler may still be running";
      case IDEMPOTENCY_OPERATION_RECORDED ->
          "the operation's outcome is recorded: forget the operation instead";
      case IDEMPOTENCY_OPERATION_UNFINISHED ->
          "the operation has no outcome yet: free the operation instead";
      case IDEMPOTENCY_OPERATION_LOCKED ->
          "a transaction has locked the operation: read the operation again";
      case IDEMPOTENCY_ADMIN_NOT_SET_UP ->
          "the server is not set up for this request: its log contains the reason";
      case IDEMPOTENCY_STORE_UNAVAILABLE -> "the database is unavailable at the moment";
    };
  }
}
