package io.github.grpcidempotency.micrometer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.spi.BatchCounts;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.ToIntFunction;

/**
 * Values that are computed when the registry reads the gauge: the sum over all running
 * interceptors, the age of their oldest call, the use of their store's connections, and the lag of
 * the last sweep. A registry ignores a second gauge of the same name and tags, so all listeners
 * with the same registry and tags share one object.
 */
final class LiveGauges {
  @GuardedBy("LiveGauges.class")
  private static final Map<MeterRegistry, Map<Tags, LiveGauges>> ALL = new WeakHashMap<>();

  @GuardedBy("this")
  private final Set<LiveCounts> running = Collections.newSetFromMap(new IdentityHashMap<>());

  @GuardedBy("this")
  private BatchCounts ended = BatchCounts.NONE;

  private volatile double sweepLag = Double.NaN;

  private LiveGauges() {}

  static synchronized LiveGauges of(Meters meters) {
    return ALL.computeIfAbsent(meters.registry(), registry -> new HashMap<>())
        .computeIfAbsent(meters.tags(), tags -> new LiveGauges().registered(meters));
  }

  private LiveGauges registered(Meters meters) {
    meters.gauge(MetricName.LEASES_HELD, () -> sum(LiveCounts::leasesHeld));
    meters.gauge(MetricName.CALLS_WAITING, () -> sum(LiveCounts::callsWaiting));
    meters.gauge(MetricName.CALLS_OLDEST, this::oldestCall);
    meters.gauge(MetricName.RECORDINGS_WAITING, () -> sum(LiveCounts::lateAnswers));
    meters.gauge(MetricName.CONNECTIONS_USED, () -> most(counts -> counts.connections().used()));
    meters.gauge(
        MetricName.CONNECTIONS_WAITING, () -> most(counts -> counts.connections().waiting()));
    meters.counter(MetricName.BATCHES, this, all -> all.batches().batches());
    meters.timer(
        MetricName.BATCH_CALLS,
        this,
        all -> all.batches().calls(),
        all -> all.batches().queued().toNanos());
    meters.gauge(MetricName.SWEEP_LAG, () -> sweepLag);
    return this;
  }

  synchronized void started(LiveCounts counts) {
    running.add(counts);
  }

  /** Keeps what a stopped interceptor has counted, because a counter must not decrease. */
  synchronized void stopped(LiveCounts counts) {
    if (running.remove(counts)) {
      ended = ended.plus(counts.batches());
    }
  }

  private synchronized BatchCounts batches() {
    return running.stream().map(LiveCounts::batches).reduce(ended, BatchCounts::plus);
  }

  void sweptWithLag(Duration lag) {
    sweepLag = lag.toNanos() / 1e9;
  }

  private synchronized double oldestCall() {
    return running.stream().mapToLong(counts -> counts.oldestCall().toNanos()).max().orElse(0)
        / 1e9;
  }

  /** Several interceptors may have one store. */
  private synchronized int most(ToIntFunction<LiveCounts> count) {
    return running.stream().mapToInt(count).max().orElse(0);
  }

  private synchronized int sum(ToIntFunction<LiveCounts> count) {
    return running.stream().mapToInt(count).sum();
  }
}
