package io.github.grpcidempotency.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DecisionLineTest {
  @Test
  void aTakeoverNamesTheDeadServerIfItIsKnown() {
    assertThat(takeover(Optional.of("shop-1:4711")))
        .isEqualTo("run 2 takes over from shop-1:4711, whose lease has ended");
    assertThat(takeover(Optional.empty()))
        .isEqualTo("run 2 takes over from an owner, whose lease has ended");
  }

  private static String takeover(Optional<String> from) {
    CallInfo call =
        new CallInfo(
            new ProcedureInfo(
                "shop.v1.Orders/CreateOrder", Entry.CALL, KeyPolicy.OPTIONAL, Execution.RESERVED),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
    return CallEvents.lineOf(Events.claimed(call, UUID.randomUUID(), 2, from, Duration.ZERO))
        .words();
  }
}
