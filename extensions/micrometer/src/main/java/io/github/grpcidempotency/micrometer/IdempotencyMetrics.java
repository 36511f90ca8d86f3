package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.event.ProcessEvent;
import io.github.grpcidempotency.proto.Experimental;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Counts and times the work of interceptors, work runners and sweepers. Create one for a service,
 * and add it to all of them:
 *
 * <pre>{@code
 * IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();
 * IdempotencyInterceptor.builder(procedures, callers).store(store).listener(metrics)
 * }</pre>
 *
 * <p>{@code docs/reference/metrics.md} lists the meters. Each procedure has its own meters, which
 * are registered at its first call. Their number is limited by the number of procedures, and the
 * number of shards if shards have meters of their own. No value that a client sends becomes a tag.
 *
 * <p>Thread-safe. It need not be closed: it keeps no reference to a closed interceptor.
 */
public final class IdempotencyMetrics implements IdempotencyListener {
  private final ShardMeters common;
  private final Optional<Function<String, ShardMeters>> byShard;
  private final Map<String, ShardMeters> shards = new ConcurrentHashMap<>();

  private IdempotencyMetrics(Builder builder) {
    Meters meters = new Meters(builder.registry, Tags.empty());
    this.byShard =
        builder.shards
            ? Optional.of(name -> new ShardMeters(meters.with(Tags.of(MetricTags.SHARD, name))))
            : Optional.empty();
    this.common =
        byShard.isPresent() ? byShard.get().apply(MetricTags.NONE) : new ShardMeters(meters);
  }

  /** Returns a builder of a listener. */
  public static Builder builder(MeterRegistry registry) {
    return new Builder(registry);
  }

  private ShardMeters of(Optional<String> shard) {
    if (byShard.isEmpty() || shard.isEmpty()) {
      return common;
    }
    ShardMeters known = shards.get(shard.get());
    return known != null ? known : shards.computeIfAbsent(shard.get(), byShard.get());
  }

  @Override
  public void started(LiveCounts counts) {
    of(counts.shard()).gauges().started(counts);
  }

  @Override
  public void stopped(LiveCounts counts) {
    of(counts.shard()).gauges().stopped(counts);
  }

  @Override
  public void onEvent(IdempotencyEvent event) {
    ShardMeters meters = of(event.shard());
    if (event instanceof CallEvent ofCall) {
      meters.of(ofCall).count(ofCall);
    } else if (event instanceof ProcessEvent ofProcess) {
      meters.process().count(ofProcess);
    }
  }

  /** Settings of a listener. Not thread-safe. */
  public static final class Builder {
    private final MeterRegistry registry;
    private boolean shards;

    private Builder(MeterRegistry registry) {
      this.registry = registry;
    }

    /**
     * Adds the tag {@code shard}, for a service with shards. Off by default. Meters without a
     * shard, such as those of a call without a caller or of a sweeper without a name, have the
     * value {@code none}.
     */
    @Experimental
    public Builder shards() {
      this.shards = true;
      return this;
    }

    /** Returns the listener. */
    public IdempotencyMetrics build() {
      return new IdempotencyMetrics(this);
    }
  }
}
