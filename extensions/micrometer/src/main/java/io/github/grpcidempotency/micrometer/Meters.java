package io.github.grpcidempotency.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Registers meters as {@link MetricName} describes them.
 *
 * @param tags the tags of all meters, in addition to the tags of each meter
 */
record Meters(MeterRegistry registry, Tags tags) {
  /** Returns a copy with additional tags. */
  Meters with(Tags more) {
    return new Meters(registry, tags.and(more));
  }

  Counter counter(MetricName name, String... values) {
    return Counter.builder(name.meter())
        .description(name.description())
        .baseUnit(unit(name))
        .tags(tagged(name, values))
        .register(registry);
  }

  Timer timer(MetricName name, String... values) {
    return Timer.builder(name.meter())
        .description(name.description())
        .tags(tagged(name, values))
        .register(registry);
  }

  /** Registers a counter whose value is computed when it is read. */
  <T> FunctionCounter counter(MetricName name, T state, ToDoubleFunction<T> count) {
    return FunctionCounter.builder(name.meter(), state, count)
        .description(name.description())
        .tags(tagged(name))
        .register(registry);
  }

  /** Registers a timer whose count and total time are computed when it is read. */
  <T> FunctionTimer timer(
      MetricName name, T state, ToLongFunction<T> count, ToDoubleFunction<T> nanos) {
    return FunctionTimer.builder(name.meter(), state, count, nanos, TimeUnit.NANOSECONDS)
        .description(name.description())
        .tags(tagged(name))
        .register(registry);
  }

  /** Registers a gauge. The registry keeps the supplier from being garbage collected. */
  Gauge gauge(MetricName name, Supplier<Number> value, String... values) {
    return Gauge.builder(name.meter(), value)
        .description(name.description())
        .baseUnit(unit(name))
        .tags(tagged(name, values))
        .register(registry);
  }

  private Tags tagged(MetricName name, String... values) {
    List<String> names = name.ownTags();
    if (names.size() != values.length) {
      throw new IllegalArgumentException(name + " has the tags " + names);
    }
    Tags tagged = tags;
    for (int i = 0; i < values.length; i++) {
      tagged = tagged.and(names.get(i), values[i]);
    }
    return tagged;
  }

  private static @Nullable String unit(MetricName name) {
    return name.unit().isEmpty() ? null : name.unit();
  }
}
