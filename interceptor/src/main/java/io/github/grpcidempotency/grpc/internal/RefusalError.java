package io.github.grpcidempotency.grpc.internal;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.Code;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import com.google.rpc.Status;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.procedure.internal.ProtobufDurations;
import io.github.grpcidempotency.proto.WireNames;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Converts a refusal to the error of the wire contract: code, {@code ErrorInfo} and time of retry.
 */
public final class RefusalError {
  private RefusalError() {}

  public static StatusRuntimeException of(Refusal refusal, String keyName) {
    Optional<Duration> retryAfter =
        refusal.retryAfter().map(delay -> jittered(refusal.reason(), delay));
    Status.Builder status =
        Status.newBuilder()
            .setCode(code(refusal.reason()).getNumber())
            .setMessage(message(refusal, keyName))
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setReason(refusal.reason().wireName())
                        .setDomain(WireNames.ERROR_DOMAIN)
                        .putAllMetadata(refusal.metadata())
                        .build()));
    if (refusal.reason() == RefusalReason.KEY_INVALID) {
      status.addDetails(Any.pack(badKey(refusal, keyName)));
    }
    StatusRuntimeException error = withRetry(status, retryAfter);
    Optional.ofNullable(refusal.metadata().get(Refusal.OPERATION))
        .ifPresent(id -> trailersOf(error).put(WireMetadata.OPERATION, id));
    return error;
  }

  private static Metadata trailersOf(StatusRuntimeException error) {
    return Objects.requireNonNull(error.getTrailers());
  }

  private static StatusRuntimeException withRetry(
      Status.Builder status, Optional<Duration> retryAfter) {
    retryAfter.ifPresent(
        delay ->
            status.addDetails(
                Any.pack(
                    RetryInfo.newBuilder().setRetryDelay(ProtobufDurations.write(delay)).build())));
    Metadata trailers = new Metadata();
    trailers.put(
        WireMetadata.PUSHBACK,
        retryAfter.map(Duration::toMillis).map(String::valueOf).orElse("-1"));
    return StatusProto.toStatusRuntimeException(status.build(), trailers);
  }

  /**
   * Adds jitter to a delay, so that calls that were refused at the same time do not retry at the
   * same time. A duplicate may retry earlier than the delay. A call that waits for the end of a
   * lease or of an outage retries later.
   */
  private static Duration jittered(RefusalReason reason, Duration delay) {
    long jitter = ThreadLocalRandom.current().nextLong(delay.toMillis() / 2 + 1);
    return delay.plusMillis(reason == RefusalReason.IN_PROGRESS ? -jitter : jitter);
  }

  private static Code code(RefusalReason reason) {
    return switch (reason) {
      case KEY_INVALID, KEY_REQUIRED, KEY_PROHIBITED, KEY_REUSED -> Code.INVALID_ARGUMENT;
      case KEY_UNKNOWN, OPERATION_UNKNOWN, RESOURCE_GONE -> Code.NOT_FOUND;
      case OPERATION_UNFINISHED -> Code.FAILED_PRECONDITION;
      case CALLER_REQUIRED -> Code.UNAUTHENTICATED;
      case REPLAY_DENIED -> Code.PERMISSION_DENIED;
      case RECORD_UNREADABLE, ANSWER_TOO_LARGE -> Code.INTERNAL;
      case IN_PROGRESS, OUTCOME_UNKNOWN -> Code.ABORTED;
      case STORE_UNAVAILABLE, SHUTTING_DOWN -> Code.UNAVAILABLE;
    };
  }

  private static String message(Refusal refusal, String keyName) {
    return switch (refusal.reason()) {
      case KEY_INVALID -> keyName + " is malformed: " + explanation(refusal);
      case KEY_REQUIRED -> "this method needs a key: " + keyName;
      case KEY_PROHIBITED -> "this method is not idempotent and takes no key: " + keyName;
      case CALLER_REQUIRED -> "this method needs an authenticated caller";
      case REPLAY_DENIED -> "this caller is not allowed to get the recorded answer";
      case RECORD_UNREADABLE ->
          "the call was answered before, but its recorded answer cannot be read";
      case ANSWER_TOO_LARGE ->
          "the call was answered before, but its answer was not recorded: it was too large, or"
              + " this server cannot rebuild it";
      case KEY_REUSED -> keyName + " was used for another request or method";
      case RESOURCE_GONE ->
          "the call was answered before, but its resource does not exist any more";
      case KEY_UNKNOWN -> "there is no record of a call with this " + keyName;
      case OPERATION_UNKNOWN -> "there is no operation with this name";
      case OPERATION_UNFINISHED -> "the operation is not done";
      case IN_PROGRESS -> "a call with this " + keyName + " is in progress";
      case OUTCOME_UNKNOWN ->
          "a call with this " + keyName + " has ended, but its outcome is not known yet";
      case STORE_UNAVAILABLE ->
          "the database is temporarily unavailable"
              + Optional.ofNullable(refusal.metadata().get(Refusal.CAUSE))
                  .map(cause -> ": " + cause.replace('_', ' '))
                  .orElse("");
      case SHUTTING_DOWN ->
          "the server is shutting down: send the same request with the same key again";
    };
  }

  private static String explanation(Refusal refusal) {
    return refusal.explanation().orElseThrow();
  }

  private static BadRequest badKey(Refusal refusal, String keyName) {
    return BadRequest.newBuilder()
        .addFieldViolations(
            BadRequest.FieldViolation.newBuilder()
                .setField(keyName)
                .setDescription(explanation(refusal)))
        .build();
  }
}
