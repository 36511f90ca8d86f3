package io.github.grpcidempotency.micrometer.monitoring;

import static io.github.grpcidempotency.micrometer.monitoring.PrometheusRules.quoted;

import io.github.grpcidempotency.micrometer.monitoring.AlertCase.Fired;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The cases of the alerts as a file that {@code promtool test rules} runs. */
final class PrometheusRuleTests {
  private PrometheusRuleTests() {}

  /** Returns the file, to be put beside the file of rules. */
  static String yaml() {
    return """
    # Made from the names of the metrics. Do not edit: see docs/how-to/monitoring.md.
    rule_files:
      - %s
    evaluation_interval: 5m
    tests:
    %s\
    """
        .formatted(
            MonitoringFiles.ALERTS.getFileName(),
            AlertCases.all().stream()
                .map(PrometheusRuleTests::test)
                .collect(Collectors.joining("\n")));
  }

  private static String test(AlertCase test) {
    return """
      - name: %s
        interval: 1m
        input_series:
    %s    alert_rule_test:
    %s\
    """
        .formatted(
            quoted(test.name()),
            test.series().stream()
                .map(
                    input ->
                        "      - series: '%s'\n        values: '%s'\n"
                            .formatted(input.series(), input.values()))
                .collect(Collectors.joining()),
            Stream.concat(
                    test.fired().stream().map(fired -> fired(test.at(), fired)),
                    test.silent().stream().map(alert -> silent(test.at(), alert)))
                .collect(Collectors.joining()));
  }

  private static String silent(String at, Alert alert) {
    return """
          - alertname: %s
            eval_time: %s
            exp_alerts: []
    """
        .formatted(alert.name(), at);
  }

  private static String fired(String at, Fired fired) {
    Alert alert = fired.alert();
    Map<String, String> labels = new TreeMap<>(fired.labels());
    labels.put("severity", alert.severity().label());
    return """
          - alertname: %s
            eval_time: %s
            exp_alerts:
              - exp_labels:
    %s            exp_annotations:
                  summary: %s
                  description: %s
                  runbook_url: %s
    """
        .formatted(
            alert.name(),
            at,
            labels.entrySet().stream()
                .map(label -> "%s: %s\n".formatted(label.getKey(), label.getValue()))
                .collect(Collectors.joining())
                .indent(14),
            quoted(Alert.filledIn(alert.summary(), fired.labels(), fired.values())),
            quoted(Alert.filledIn(alert.description(), fired.labels(), fired.values())),
            alert.runbook());
  }
}
