package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whoever looks up a meter builds its name and tags. So it is enough to count bytes. */
class HotPathTest {
  private static final int ROUNDS = 2_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void anEventAllocatesNoMemory() {
    for (MeterRegistry registry :
        List.of(new SimpleMeterRegistry(), new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
      IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();
      List<IdempotencyEvent> events =
          SampleEvents.ofEachKind(SampleEvents.call(SampleEvents.CREATE));
      deliver(events, metrics);

      long before = threads.getCurrentThreadAllocatedBytes();
      deliver(events, metrics);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;

      assertThat(allocated / ((double) ROUNDS * events.size())).as("bytes per event").isLessThan(1);
    }
  }

  private static void deliver(List<IdempotencyEvent> events, IdempotencyMetrics metrics) {
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < events.size(); i++) {
        metrics.onEvent(events.get(i));
      }
    }
  }
}
