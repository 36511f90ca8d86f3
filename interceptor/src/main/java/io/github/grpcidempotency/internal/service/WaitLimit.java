package io.github.grpcidempotency.internal.service;

import io.github.grpcidempotency.internal.field.ProtobufDurations;
import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** How long a call that asks to wait on the server may do so. */
final class WaitLimit {
  private static final Duration MOST = Duration.ofMinutes(1);

  private WaitLimit() {}

  /** Returns what the client asks for, within the server's limit and the current deadline. */
  static Duration of(com.google.protobuf.Duration asked) {
    Duration most = most();
    return ProtobufDurations.read(asked)
        .filter(wanted -> !wanted.isNegative())
        .map(wanted -> wanted.compareTo(most) < 0 ? wanted : most)
        .orElse(Duration.ZERO);
  }

  /** Returns the longest possible wait. */
  static Duration most() {
    return Optional.ofNullable(Context.current().getDeadline())
        .map(WaitLimit::beforeItEnds)
        .filter(left -> left.compareTo(MOST) < 0)
        .orElse(MOST);
  }

  /** Leaves time for an answer. */
  private static Duration beforeItEnds(Deadline deadline) {
    return Duration.ofMillis(deadline.timeRemaining(TimeUnit.MILLISECONDS) * 9 / 10);
  }
}
