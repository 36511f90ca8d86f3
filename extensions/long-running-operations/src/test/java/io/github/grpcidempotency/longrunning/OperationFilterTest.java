package io.github.grpcidempotency.longrunning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.grpc.StatusRuntimeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationFilterTest {
  @Test
  void termsAreJoinedByAnd() {
    OperationFilter filter =
        OperationFilter.parse(
            " procedure=\"shop.Orders/Create\"AND state = running AND done=false ");

    assertThat(filter.procedure()).contains("shop.Orders/Create");
    assertThat(filter.states()).containsExactly(State.STATE_RUNNING);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "done",
        "done =",
        "done = true state = RUNNING",
        "done = true OR done = false",
        "done = true AND",
        "= true",
        "procedure = \"open",
        "colour = red",
        "state = ASLEEP"
      })
  void aTextThatIsNotAFilterIsRefused(String text) {
    assertThatThrownBy(() -> OperationFilter.parse(text))
        .isInstanceOf(StatusRuntimeException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", " ", "a=", "done = true AND ", "a=\"", "a = aAND"})
  @Timeout(120)
  void aTextThatIsNotAFilterIsReadOnlyOnce(String part) {
    assertThatThrownBy(() -> OperationFilter.parse(part.repeat(900 / part.length()) + "!"))
        .isInstanceOf(StatusRuntimeException.class);
    assertThatThrownBy(() -> OperationFilter.parse(part.repeat(4_000_000)))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("at most 1000 characters");
  }
}
