package io.github.grpcidempotency.procedure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The smallest and largest values of settings, and the values next to them. */
class LimitsTest {
  private static final Duration NANO = Duration.ofNanos(1);

  private final ProcedureBuilder<?> procedure =
      Procedure.of(ThingServiceGrpc.getCreateThingMethod()).execution(Execution.RESERVED);

  @Test
  void aHandlerMayBeUnansweredForUpToAYear() {
    for (Duration limit : List.of(NANO, Duration.ofDays(365))) {
      assertThat(procedure.unansweredLimit(limit).build().unansweredLimit()).contains(limit);
    }
    for (Duration limit : List.of(NANO.negated(), Duration.ZERO, Duration.ofDays(365).plus(NANO))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> procedure.unansweredLimit(limit))
          .withMessageContaining(limit.toString());
    }
  }

  @Test
  void aDuplicateMayWaitForUpToAHundredYears() {
    Duration longest = Duration.ofDays(36_500);

    assertThat(procedure.attach(longest).build().attachLimit()).isEqualTo(longest);
    assertThatIllegalArgumentException().isThrownBy(() -> procedure.attach(longest.plus(NANO)));
  }

  @Test
  void aRecordedAnswerMayHaveAByte() {
    assertThat(procedure.maxRecordedBytes(1).build().maxRecordedBytes()).isOne();
    assertThatIllegalArgumentException().isThrownBy(() -> procedure.maxRecordedBytes(0));
  }

  @Test
  void noLimitOfWaitingCallsIsNegative() {
    IdempotencyInterceptor.Builder settings =
        IdempotencyInterceptor.builder(Procedures.of(), Optional::empty)
            .waitingCalls(0, 0)
            .waitingBytes(0, 0);
    assertThatIllegalArgumentException().isThrownBy(() -> settings.waitingCalls(-1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> settings.waitingCalls(1, -1));
    assertThatIllegalArgumentException().isThrownBy(() -> settings.waitingBytes(-1, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> settings.waitingBytes(1, -1));
  }
}
