package io.github.grpcidempotency.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.util.Durations;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.github.grpcidempotency.decision.Refusal;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;

/** A refusal as the wire contract spells it: code, {@code ErrorInfo}, and when to try again. */
final class RefusalError {
  static final String DOMAIN = "grpc-idempotency";

  private RefusalError() {}

  static StatusRuntimeException of(Refusal refusal, String keyName) {
    Status.Builder status =
        Status.newBuilder()
            .setCode(code(refusal.reason()).getNumber())
            .setMessage(message(refusal.reason(), keyName))
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setReason(refusal.reason().name())
                        .setDomain(DOMAIN)
                        .putAllMetadata(refusal.metadata())
                        .build()));
    if (refusal.reason() == Refusal.Reason.IDEMPOTENCY_KEY_INVALID) {
      status.addDetails(Any.pack(badKey(keyName)));
    }
    refusal
        .retryAfter()
        .ifPresent(
            delay ->
                status.addDetails(
                    Any.pack(
                        RetryInfo.newBuilder()
                            .setRetryDelay(Durations.fromMillis(delay.toMillis()))
                            .build())));
    Metadata trailers = new Metadata();
    trailers.put(IdempotencyMetadata.PUSHBACK, pushback(refusal));
    return StatusProto.toStatusRuntimeException(status.build(), trailers);
  }

  private static Code code(Refusal.Reason reason) {
    return switch (reason) {
      case IDEMPOTENCY_KEY_INVALID,
          IDEMPOTENCY_KEY_REQUIRED,
          IDEMPOTENCY_KEY_PROHIBITED,
          IDEMPOTENCY_KEY_REUSED ->
          Code.INVALID_ARGUMENT;
      case IDEMPOTENCY_CALLER_REQUIRED -> Code.UNAUTHENTICATED;
      case IDEMPOTENCY_REPLAY_DENIED -> Code.PERMISSION_DENIED;
      case IDEMPOTENCY_RECORD_UNREADABLE -> Code.INTERNAL;
      case IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_OUTCOME_UNKNOWN -> Code.ABORTED;
      case IDEMPOTENCY_STORE_UNAVAILABLE -> Code.UNAVAILABLE;
    };
  }

  private static String message(Refusal.Reason reason, String keyName) {
    return switch (reason) {
      case IDEMPOTENCY_KEY_INVALID -> keyName + " is malformed";
      case IDEMPOTENCY_KEY_REQUIRED -> "this method needs an " + keyName;
      case IDEMPOTENCY_KEY_PROHIBITED -> "this method is not idempotent and takes no " + keyName;
      case IDEMPOTENCY_CALLER_REQUIRED -> "this method needs an authenticated caller";
      case IDEMPOTENCY_REPLAY_DENIED -> "the recorded answer is not for this caller any more";
      case IDEMPOTENCY_RECORD_UNREADABLE ->
          "the call was answered before, and its recorded answer cannot be read";
      case IDEMPOTENCY_KEY_REUSED -> keyName + " was used for a different request";
      case IDEMPOTENCY_IN_PROGRESS -> "a call with this " + keyName + " is in progress";
      case IDEMPOTENCY_OUTCOME_UNKNOWN ->
          "the outcome of a call with this " + keyName + " is not known yet";
      case IDEMPOTENCY_STORE_UNAVAILABLE -> "idempotency is unavailable at the moment";
    };
  }

  private static BadRequest badKey(String keyName) {
    return BadRequest.newBuilder()
        .addFieldViolations(
            BadRequest.FieldViolation.newBuilder()
                .setField(keyName)
                .setDescription("exactly one well-formed key is expected"))
        .build();
  }

  private static String pushback(Refusal refusal) {
    return refusal.retryAfter().map(Duration::toMillis).map(String::valueOf).orElse("-1");
  }
}
