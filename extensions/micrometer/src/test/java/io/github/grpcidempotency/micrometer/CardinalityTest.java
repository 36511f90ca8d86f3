package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.internal.event.CallInfo;
import io.github.grpcidempotency.internal.event.Events;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class CardinalityTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void shardsHaveMetersOfTheirOwnIfConfigured() {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).shards().build();
    for (String shard : List.of("east", "west", "west")) {
      metrics.onEvent(Events.leaseLost(onShard(shard), UUID.randomUUID()));
      metrics.onEvent(Events.leasesRenewed(2, 1, Duration.ZERO, Optional.of(shard)));
      Optional<Duration> lag = Optional.of(Duration.ofHours(shard.equals("west") ? 2 : 1));
      metrics.onEvent(Events.swept(1, Duration.ZERO, lag, Optional.of(shard)));
    }
    metrics.onEvent(Events.sweepFailed(new IllegalStateException(), Optional.empty()));

    assertThat(tags(MetricTags.SHARD)).containsExactlyInAnyOrder("east", "west", MetricTags.NONE);
    assertThat(
            registry
                .get(MetricName.SWEEP_LAG.meter())
                .tag(MetricTags.SHARD, "west")
                .gauge()
                .value())
        .isEqualTo(2 * 60 * 60);
    for (MetricName name :
        List.of(MetricName.LEASES_LOST, MetricName.RENEWALS_LOST, MetricName.SWEEP_RECORDS)) {
      assertThat(registry.get(name.meter()).tag(MetricTags.SHARD, "west").counter().count())
          .isEqualTo(2);
    }
  }

  private static CallInfo onShard(String shard) {
    return new CallInfo(
        SampleEvents.CREATE, Optional.empty(), Optional.empty(), Optional.of(shard));
  }

  @Test
  void sourcesThatAServiceMakesUpAreLimited() {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();

    for (int i = 0; i < 1_000; i++) {
      metrics.onEvent(Events.keyFound(SampleEvents.call(SampleEvents.CREATE), "source-" + i));
    }

    assertThat(tags(MetricTags.SOURCE)).hasSize(21).contains(MetricTags.OTHER);
  }

  private Set<String> tags(String name) {
    return registry.getMeters().stream()
        .flatMap(meter -> meter.getId().getTags().stream())
        .filter(tag -> tag.getKey().equals(name))
        .map(tag -> tag.getValue())
        .collect(Collectors.toSet());
  }
}
