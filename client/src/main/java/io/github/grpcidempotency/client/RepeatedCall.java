package io.github.grpcidempotency.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A call that is sent several times, always with the same key.
 *
 * @param channel the channel of the stub
 * @param deadline the deadline of all attempts
 * @param attemptTimeout the timeout of each attempt
 */
record RepeatedCall<RequestT, T>(
    Channel channel,
    MethodDescriptor<RequestT, T> method,
    CallOptions options,
    RequestT request,
    Intent intent,
    Deadline deadline,
    Duration attemptTimeout) {

  /** Sends the call. */
  Attempt<RequestT, T> send() {
    return Attempt.start(
        ClientInterceptors.intercept(channel, IdempotencyClientInterceptor.create()),
        method,
        options.withOption(Intent.OPTION, intent).withDeadline(attemptDeadline()),
        request);
  }

  /** Returns whether a wait would outlast the deadline. */
  boolean endsWithin(Duration wait) {
    return wait.compareTo(timeLeft()) >= 0;
  }

  /** Returns the time until the deadline; negative after it. */
  Duration timeLeft() {
    return Duration.ofNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS));
  }

  private Deadline attemptDeadline() {
    return deadline.minimum(Deadline.after(attemptTimeout.toNanos(), TimeUnit.NANOSECONDS));
  }
}
