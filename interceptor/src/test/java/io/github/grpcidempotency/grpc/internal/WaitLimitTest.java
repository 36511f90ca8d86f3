package io.github.grpcidempotency.grpc.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WaitLimitTest {
  @Test
  void aCallWaitsForTheRequestedTimeButAtMostForAMinute() {
    assertThat(WaitLimit.of(duration(2, 5))).isEqualTo(Duration.ofSeconds(2, 5));
    assertThat(WaitLimit.of(duration(3600, 0))).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void aCallThatAsksForNoValidDurationDoesNotWait() {
    assertThat(WaitLimit.of(duration(Long.MAX_VALUE, 0))).isZero();
    assertThat(WaitLimit.of(duration(0, Integer.MIN_VALUE))).isZero();
    assertThat(WaitLimit.of(duration(1, -1))).isZero();
    assertThat(WaitLimit.of(duration(-1, 1))).isZero();
    assertThat(WaitLimit.of(duration(-1, 0))).isZero();
    assertThat(WaitLimit.of(duration(Long.MIN_VALUE, Integer.MIN_VALUE))).isZero();
  }

  private static com.google.protobuf.Duration duration(long seconds, int nanos) {
    return com.google.protobuf.Duration.newBuilder().setSeconds(seconds).setNanos(nanos).build();
  }
}
