package io.github.grpcidempotency.client;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A call that is sent several times, always with the same key, and the waits for its operation.
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
    return Attempt.start(
        ClientInterceptors.intercept(channel, keys),
        method,
        options.withOption(Intent.OPTION, intent).withDeadline(attemptDeadline()),
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
