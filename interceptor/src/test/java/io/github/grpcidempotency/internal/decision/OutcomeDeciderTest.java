package io.github.grpcidempotency.internal.decision;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.Code;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.procedure.FailurePolicy;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OutcomeDeciderTest {
  private static final FailurePolicy POLICY =
      FailurePolicy.releaseAll()
          .withTerminal(Code.INVALID_ARGUMENT, Code.ALREADY_EXISTS)
          .withUnknown(Code.UNKNOWN, Code.UNAVAILABLE);

  @ParameterizedTest
  @EnumSource(
      value = Code.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"OK", "UNRECOGNIZED"})
  void byDefaultEveryErrorFreesTheKey(Code code) {
    assertThat(OutcomeDecider.decide(new HandlerError(code, false), FailurePolicy.releaseAll()))
        .isEqualTo(Settlement.RELEASE);
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          CANCELLED,           RELEASE
          UNKNOWN,             MARK_UNKNOWN
          INVALID_ARGUMENT,    COMPLETE_WITH_ERROR
          DEADLINE_EXCEEDED,   RELEASE
          NOT_FOUND,           RELEASE
          ALREADY_EXISTS,      COMPLETE_WITH_ERROR
          PERMISSION_DENIED,   RELEASE
          UNAUTHENTICATED,     RELEASE
          RESOURCE_EXHAUSTED,  RELEASE
          FAILED_PRECONDITION, RELEASE
          ABORTED,             RELEASE
          OUT_OF_RANGE,        RELEASE
          UNIMPLEMENTED,       RELEASE
          INTERNAL,            RELEASE
          UNAVAILABLE,         MARK_UNKNOWN
          DATA_LOSS,           RELEASE
          """)
  void anErrorIsSettledByThePolicy(Code code, Settlement settlement) {
    assertThat(OutcomeDecider.decide(new HandlerError(code, false), POLICY)).isEqualTo(settlement);
  }

  @ParameterizedTest
  @EnumSource(
      value = Code.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"OK", "UNRECOGNIZED"})
  void anErrorThatTheHandlerMarkedIsTerminalUnderEveryPolicy(Code code) {
    assertThat(OutcomeDecider.decide(new HandlerError(code, true), POLICY))
        .isEqualTo(Settlement.COMPLETE_WITH_ERROR);
  }
}
