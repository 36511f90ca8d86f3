package io.github.grpcidempotency.micrometer.monitoring;

import io.github.grpcidempotency.micrometer.monitoring.Alerts.Recording;
import java.util.stream.Collectors;

/** The alerts as a file of rules for Prometheus. */
final class PrometheusRules {
  private PrometheusRules() {}

  /** Returns the file. */
  static String yaml() {
    return """
    # Made from the names of the metrics. Do not edit: see docs/how-to/monitoring.md.
    groups:
      - name: idempotency
        rules:
    %s
    %s\
    """
        .formatted(
            Alerts.recordings().stream()
                .map(PrometheusRules::recording)
                .collect(Collectors.joining("\n")),
            Alerts.all().stream().map(PrometheusRules::alert).collect(Collectors.joining("\n")));
  }

  private static String recording(Recording recording) {
    return """
          - record: %s
            expr: |
    %s\
    """
        .formatted(recording.name(), recording.expression().indent(10));
  }

  private static String alert(Alert alert) {
    return """
          - alert: %s
            expr: |
    %s        for: %s
            labels:
              severity: %s
            annotations:
              summary: %s
              description: %s
              runbook_url: %s
    """
        .formatted(
            alert.name(),
            alert.expression().indent(10),
            alert.holdsFor(),
            alert.severity().label(),
            quoted(alert.summary()),
            quoted(alert.description()),
            alert.runbook());
  }

  /** Returns a string of YAML. */
  static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
