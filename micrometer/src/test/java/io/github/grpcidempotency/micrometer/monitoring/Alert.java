package io.github.grpcidempotency.micrometer.monitoring;

import java.util.Locale;
import java.util.Map;

/**
 * A rule that alerts somebody.
 *
 * @param holdsFor for how long the expression must hold, as Prometheus writes durations
 * @param expression alerts for each series that it yields
 * @param summary what has happened, in one line
 * @param description what it means; both may name labels and the value in Prometheus' templates
 */
record Alert(
    String name,
    Severity severity,
    String holdsFor,
    String expression,
    String summary,
    String description) {
  private static final String RUNBOOK =
      "https://github.com/grpcidempotency/grpc-idempotency/blob/main/docs/operations/alerts.md#";

  /** Who should hear of it. */
  enum Severity {
    /** Somebody, now. */
    CRITICAL,
    /** Somebody, in the morning. */
    WARNING;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the page that says what to do. */
  String runbook() {
    return RUNBOOK + anchor();
  }

  /** Returns the anchor of the alert's heading, as code hosts make it. */
  String anchor() {
    return name.toLowerCase(Locale.ROOT);
  }

  /**
   * Returns a template as Prometheus fills it in.
   *
   * @param values what becomes of the value, by the function that formats it
   */
  static String filledIn(String template, Map<String, String> labels, Map<String, String> values) {
    String text = template;
    for (Map.Entry<String, String> value : values.entrySet()) {
      text = text.replace("{{ $value | " + value.getKey() + " }}", value.getValue());
    }
    for (Map.Entry<String, String> label : labels.entrySet()) {
      text = text.replace("{{ $labels." + label.getKey() + " }}", label.getValue());
    }
    return text;
  }
}
