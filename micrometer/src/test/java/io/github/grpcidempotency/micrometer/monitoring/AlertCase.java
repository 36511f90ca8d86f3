package io.github.grpcidempotency.micrometer.monitoring;

import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricName.Scope;
import io.github.grpcidempotency.micrometer.MetricTags;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What Prometheus sees, and which alerts follow.
 *
 * @param name a sentence
 * @param series what it sees, once a minute
 * @param at when one looks, as Prometheus writes durations
 * @param fired what is fired then
 * @param silent what is not
 */
record AlertCase(
    String name, List<Input> series, String at, List<Fired> fired, List<Alert> silent) {
  /**
   * A series.
   *
   * @param values in the notation of promtool
   */
  record Input(String series, String values) {}

  /**
   * An alert that is fired.
   *
   * @param labels of the series, without the alert's own
   * @param values what the alert's templates make of the value, by template
   */
  record Fired(Alert alert, Map<String, String> labels, Map<String, String> values) {}

  static final String JOB = "shop";
  static final String PROCEDURE = "shop.v1.Orders/CreateOrder";
  static final String SCHEMA = "idempotency";

  private static final Map<String, String> SAMPLES =
      Map.of(
          MetricTags.PROCEDURE, PROCEDURE,
          MetricTags.ENTRY, "call",
          MetricTags.POLICY, "optional",
          MetricTags.CASE, "header",
          MetricTags.EXECUTION, "transactional",
          MetricTags.SOURCE, "idempotency-key",
          MetricTags.REFUSED, "false",
          MetricTags.OUTCOME, "response",
          MetricTags.SCHEMA, SCHEMA);

  /** Returns a series of a server, with all labels that the metric has. */
  static Input input(MetricName metric, String values, String... tags) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("job", JOB);
    labels.put("instance", "one:9090");
    for (String tag : metric.tags()) {
      labels.put(tag, SAMPLES.getOrDefault(tag, MetricTags.NONE));
    }
    for (int i = 0; i < tags.length; i += 2) {
      labels.put(tags[i], tags[i + 1]);
    }
    return new Input(Promql.events(metric) + labels(labels), values);
  }

  /** Returns that the server is scraped. */
  static Input up(String values) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("job", JOB);
    labels.put("instance", "one:9090");
    return new Input("up" + labels(labels), values);
  }

  /** Returns the labels by which alerts of a metric of this scope are told apart. */
  static Map<String, String> labels(Scope scope) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("job", JOB);
    switch (scope) {
      case PROCEDURE -> labels.put(MetricTags.PROCEDURE, PROCEDURE);
      case DATABASE -> labels.put(MetricTags.SCHEMA, SCHEMA);
      case PROCESS -> {}
    }
    return labels;
  }

  private static String labels(Map<String, String> labels) {
    return labels.entrySet().stream()
        .map(label -> Promql.is(label.getKey(), label.getValue()))
        .collect(java.util.stream.Collectors.joining(", ", "{", "}"));
  }
}
