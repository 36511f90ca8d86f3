package io.github.grpcidempotency.longrunning;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WorkWatchTest {
  @Test
  void anErrorOfOneWaitingCallDoesNotKeepTheOthersWaiting() {
    Procedure procedure = Procedure.named("jobs/watched").execution(Execution.RESERVED).build();
    OwnedResource resource = new OwnedResource(Caller.of(UUID.randomUUID()), ResourceId.of("1"));
    AtomicInteger resumed = new AtomicInteger();
    WorkWatch watch =
        new WorkWatch(
            () -> {
              throw new IllegalStateException("no catalog");
            },
            Map.of(procedure.name(), procedure));
    for (int i = 0; i < 3; i++) {
      assertThat(
              watch.await(
                  procedure,
                  resource,
                  Duration.ofMinutes(5),
                  () -> {
                    resumed.incrementAndGet();
                    throw new NoSuchMethodError("on purpose");
                  },
                  leave -> {}))
          .isTrue();
    }

    watch.close();

    assertThat(resumed).hasValue(3);
  }
}
