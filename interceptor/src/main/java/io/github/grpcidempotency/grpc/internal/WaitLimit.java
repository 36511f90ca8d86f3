package io.github.grpcidempotency.grpc.internal;

import io.github.grpcidempotency.procedure.internal.ProtobufDurations;
import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Limits how long a call may wait on the server. */
final class WaitLimit {
  private static final Duration MOST = Duration.ofMinutes(1);

  private WaitLimit() {}

  /**
   * Returns the wait that the client requests, within the server's limit and the current deadline.
   */
  static Duration of(com.google.protobuf.Duration asked) {
    Duration most = most();
    return ProtobufDurations.read(asked)
        .filter(wanted -> !wanted.isNegative())
        .map(wanted -> wanted.compareTo(most) < 0 ? wanted : most)
        .orElse(Duration.ZERO);
  }

  private static Duration most() {
    return Optional.ofNullable(Context.current().getDeadline())
        .map(WaitLimit::beforeItEnds)
        .filter(left -> left.compareTo(MOST) < 0)
        .orElse(MOST);
  }

  /** Returns the time before a deadline, less some time for the answer. */
  private static Duration beforeItEnds(Deadline deadline) {
    return Duration.ofMillis(deadline.timeRemaining(TimeUnit.MILLISECONDS) * 9 / 10);
  }
}
