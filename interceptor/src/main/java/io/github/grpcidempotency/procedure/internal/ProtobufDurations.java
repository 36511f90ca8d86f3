package io.github.grpcidempotency.procedure.internal;

import java.time.Duration;
import java.util.Optional;

/**
 * Converts durations. The library does not depend on protobuf-java-util, which has the same
 * conversion.
 */
public final class ProtobufDurations {
  /** About ten thousand years: the limit of {@code google.protobuf.Duration}. */
  private static final long MAX_SECONDS = 315_576_000_000L;

  private static final int MAX_NANOS = 999_999_999;

  private ProtobufDurations() {}

  /** Returns a duration; empty if a field is out of range, or the fields have different signs. */
  public static Optional<Duration> read(com.google.protobuf.Duration duration) {
    long seconds = duration.getSeconds();
    int nanos = duration.getNanos();
    boolean valid =
        -MAX_SECONDS <= seconds
            && seconds <= MAX_SECONDS
            && -MAX_NANOS <= nanos
            && nanos <= MAX_NANOS
            && Long.signum(seconds) * Integer.signum(nanos) >= 0;
    return valid ? Optional.of(Duration.ofSeconds(seconds, nanos)) : Optional.empty();
  }

  /** Returns the protobuf message of a duration that is not negative. */
  public static com.google.protobuf.Duration write(Duration duration) {
    return com.google.protobuf.Duration.newBuilder()
        .setSeconds(duration.toSeconds())
        .setNanos(duration.toNanosPart())
        .build();
  }
}
