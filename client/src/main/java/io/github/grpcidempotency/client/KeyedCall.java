package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A call that is sent as often as it takes, always under the same key, and asked about.
 *
 * @param channel the stub's
 * @param deadline of all of it
 * @param attemptTimeout of each attempt
 */
record KeyedCall<RequestT, T>(
    Channel channel,
    IdempotencyClientInterceptor keys,
    MethodDescriptor<RequestT, T> method,
    CallOptions options,
    RequestT request,
    Intent intent,
    Deadline deadline,
    Duration attemptTimeout) {

  /** Sends it. */
  Attempt<RequestT, T> send() {
    return send(intent, deadline);
  }

  /** Sends it once more after it was answered, for an answer before some time. */
  Attempt<RequestT, T> repeatBefore(Deadline end) {
    return send(intent.sentBefore(), end);
  }

  private Attempt<RequestT, T> send(Intent key, Deadline end) {
    return Attempt.start(
        ClientInterceptors.intercept(channel, keys),
        method,
        options.withOption(Intent.OPTION, key).withDeadline(end.minimum(attemptDeadline())),
        request);
  }

  /**
   * Asks its server to answer when an operation is done, or else shortly before the attempt is
   * over.
   */
  Attempt<WaitOperationRequest, Operation> waitFor(UUID operationId) {
    Deadline end = attemptDeadline();
    return Attempt.start(
        channel,
        OperationsGrpc.getWaitOperationMethod(),
        options.withOption(IdempotencyClientInterceptor.WITHOUT_KEY, true).withDeadline(end),
        WaitOperationRequest.newBuilder()
            .setName(operationId.toString())
            .setTimeout(
                toProto(Duration.ofMillis(end.timeRemaining(TimeUnit.MILLISECONDS) * 9 / 10)))
            .build());
  }

  /** Returns the call's key as Recovery knows it; empty if the client does not know it. */
  Optional<String> key() {
    return keys.key(method, request, intent);
  }

  /** Asks its server what is known of it. Runs nothing. */
  Attempt<RecoverRequest, RecoverResponse> recover(String key) {
    return Attempt.start(
        channel,
        RecoveryGrpc.getRecoverMethod(),
        options
            .withOption(IdempotencyClientInterceptor.WITHOUT_KEY, true)
            .withDeadline(attemptDeadline()),
        RecoverRequest.newBuilder().setMethod(method.getFullMethodName()).setKey(key).build());
  }

  /** Returns whether a wait would outlast the deadline. */
  boolean endsWithin(Duration wait) {
    return wait.toMillis() >= deadline.timeRemaining(TimeUnit.MILLISECONDS);
  }

  private static com.google.protobuf.Duration toProto(Duration duration) {
    return com.google.protobuf.Duration.newBuilder()
        .setSeconds(duration.toSeconds())
        .setNanos(duration.toNanosPart())
        .build();
  }

  private Deadline attemptDeadline() {
    return deadline.minimum(Deadline.after(attemptTimeout.toNanos(), TimeUnit.NANOSECONDS));
  }
}
