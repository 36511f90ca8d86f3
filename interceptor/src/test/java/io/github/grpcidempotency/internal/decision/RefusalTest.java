package io.github.grpcidempotency.internal.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusalTest {
  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # lease left, retry after
          PT0S,         PT0.05S
          PT0.049S,     PT0.05S
          PT0.2S,       PT0.2S
          PT30S,        PT0.5S
          """)
  void aDuplicateRetriesSoonAndAtTheLatestWhenTheLeaseEnds(
      Duration leaseLeft, Duration retryAfter) {
    assertThat(Refusal.inProgress(leaseLeft).retryAfter()).contains(retryAfter);
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          # lease left, retry after
          PT0S,         PT0.05S
          PT0.2S,       PT0.2S
          PT30S,        PT30S
          """)
  void anUnknownOutcomeIsWaitedForUntilTheLeaseEnds(Duration leaseLeft, Duration retryAfter) {
    assertThat(Refusal.outcomeUnknown(Optional.of(leaseLeft)).retryAfter()).contains(retryAfter);
  }
}
