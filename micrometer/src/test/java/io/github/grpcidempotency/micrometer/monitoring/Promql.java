package io.github.grpcidempotency.micrometer.monitoring;

import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricName.Kind;

/** Parts of expressions in Prometheus' language. Names of metrics come from {@link MetricName}. */
final class Promql {
  private Promql() {}

  /** Selects a metric's series; of a timer, the number of events. */
  static String select(MetricName metric, String filter) {
    return events(metric) + (filter.isEmpty() ? "" : "{" + filter + "}");
  }

  /** Selects the parts of a timer: {@code sum}, {@code count}, {@code bucket}, {@code max}. */
  static String select(MetricName timer, String part, String filter) {
    if (timer.kind() != Kind.TIMER) {
      throw new IllegalArgumentException(timer + " is not a timer");
    }
    return timer.prometheus() + "_" + part + (filter.isEmpty() ? "" : "{" + filter + "}");
  }

  static String events(MetricName metric) {
    return metric.kind() == Kind.TIMER ? metric.prometheus() + "_count" : metric.prometheus();
  }

  static String is(String label, String value) {
    return "%s=\"%s\"".formatted(label, value);
  }

  static String oneOf(String label, String pattern) {
    return "%s=~\"%s\"".formatted(label, pattern);
  }

  /**
   * Returns by how much a counter has grown within a window. A series that was born within it
   * counts from zero, if its server was scraped before: {@code increase} alone would not see an
   * event that comes with the first sample of its series.
   */
  static String grown(MetricName counter, String filter, String window) {
    String series = select(counter, filter);
    return """
    (%1$s unless %1$s offset %2$s)
        and on (job, instance) (up offset %2$s == 1)
      or
        increase(%1$s[%2$s])\
    """
        .formatted(series, window);
  }
}
