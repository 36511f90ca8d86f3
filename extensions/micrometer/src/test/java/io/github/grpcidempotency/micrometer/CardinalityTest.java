package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class CardinalityTest {
  private static final int TENANTS = 1_000;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void tenantsAreNoTagByDefault() {
    everyTenantCallsTwice(IdempotencyMetrics.builder(registry).build());

    assertThat(tags(MetricTags.TENANT)).isEmpty();
    assertThat(lost()).hasSize(1);
  }

  @Test
  void aThousandTenantsHaveTheMetersOfTheFirstTenAndOneForAllOthers() {
    everyTenantCallsTwice(IdempotencyMetrics.builder(registry).tenants(10).build());

    assertThat(tags(MetricTags.TENANT))
        .hasSize(11)
        .contains("tenant-0", "tenant-9", MetricTags.OTHER);
    assertThat(count("tenant-3")).isEqualTo(2);
    assertThat(count(MetricTags.OTHER)).isEqualTo(2 * (TENANTS - 10));
  }

  @Test
  void shardsHaveMetersOfTheirOwnIfConfigured() {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).shards().build();
    for (String shard : List.of("east", "west", "west")) {
      metrics.leaseLost(new IdempotencyEvent.LeaseLost(onShard(shard), UUID.randomUUID()));
      metrics.leasesRenewed(
          new IdempotencyEvent.LeasesRenewed(2, 1, Duration.ZERO, Optional.of(shard)));
      Optional<Duration> lag = Optional.of(Duration.ofHours(shard.equals("west") ? 2 : 1));
      metrics.swept(new IdempotencyEvent.Swept(1, Duration.ZERO, lag, Optional.of(shard)));
    }
    metrics.sweepFailed(
        new IdempotencyEvent.SweepFailed(new IllegalStateException(), Optional.empty()));

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
  void callersOutsideAllTenantsHaveATagValueOfTheirOwn() {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).tenants(10).build();

    metrics.leaseLost(
        new IdempotencyEvent.LeaseLost(SampleEvents.call(SampleEvents.CREATE), UUID.randomUUID()));

    assertThat(tags(MetricTags.TENANT)).containsExactly(MetricTags.NONE);
  }

  @Test
  void sourcesThatAServiceMakesUpAreLimited() {
    IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();

    for (int i = 0; i < 1_000; i++) {
      metrics.keyFound(
          new IdempotencyEvent.KeyFound(SampleEvents.call(SampleEvents.CREATE), "source-" + i));
    }

    assertThat(tags(MetricTags.SOURCE)).hasSize(21).contains(MetricTags.OTHER);
  }

  @Test
  void aLimitIsPositive() {
    IdempotencyMetrics.Builder builder = IdempotencyMetrics.builder(registry);

    assertThatIllegalArgumentException().isThrownBy(() -> builder.tenants(0));
  }

  private static void everyTenantCallsTwice(IdempotencyMetrics metrics) {
    for (int i = 0; i < 2 * TENANTS; i++) {
      int n = i % TENANTS;
      metrics.leaseLost(
          new IdempotencyEvent.LeaseLost(
              SampleEvents.call("tenant-" + n, "project-" + n), UUID.randomUUID()));
    }
  }

  private List<Meter> lost() {
    return registry.getMeters().stream()
        .filter(meter -> meter.getId().getName().equals(MetricName.LEASES_LOST.meter()))
        .toList();
  }

  private Set<String> tags(String name) {
    return registry.getMeters().stream()
        .flatMap(meter -> meter.getId().getTags().stream())
        .filter(tag -> tag.getKey().equals(name))
        .map(tag -> tag.getValue())
        .collect(Collectors.toSet());
  }

  private double count(String tenant) {
    return registry
        .get(MetricName.LEASES_LOST.meter())
        .tag(MetricTags.TENANT, tenant)
        .counter()
        .count();
  }
}
