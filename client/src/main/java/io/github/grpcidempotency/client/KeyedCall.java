package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Any;
import com.google.protobuf.Message;
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
 * A call that is sent several times, always with the same key, and the requests for its outcome.
 *
 * @param channel the channel of the stub
 * @param deadline the deadline of all attempts
 * @param attemptTimeout the timeout of each attempt
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

  /** Sends the call. */
  Attempt<RequestT, T> send() {
    return send(intent, deadline);
  }

  /** Sends an answered call again, with a deadline. */
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
   * Lets the server answer when an operation is done, at the latest shortly before the attempt
   * times out.
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

  /**
   * Returns the request for the call's record: by its key, or, if the server computes the key or
   * the user has set the field that contains it, by the call's request.
   */
  Optional<RecoverRequest> question() {
    RecoverRequest.Builder question =
        RecoverRequest.newBuilder().setMethod(method.getFullMethodName());
    Optional<String> key = keys.key(method, request, intent);
    if (key.isPresent()) {
      return Optional.of(question.setKey(key.get()).build());
    }
    return request instanceof Message message
        ? Optional.of(question.setRequest(Any.pack(message)).build())
        : Optional.empty();
  }

  /** Reads the record of the call from its server. Runs no handler. */
  Attempt<RecoverRequest, RecoverResponse> recover(RecoverRequest question) {
    return Attempt.start(
        channel,
        RecoveryGrpc.getRecoverMethod(),
        options
            .withOption(IdempotencyClientInterceptor.WITHOUT_KEY, true)
            .withDeadline(attemptDeadline()),
        question);
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
