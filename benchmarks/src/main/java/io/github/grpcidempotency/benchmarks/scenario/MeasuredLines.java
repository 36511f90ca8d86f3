package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import java.util.LinkedHashMap;
import java.util.Map;

/** The numbers of a results table, collected over rounds: a line for each label. */
final class MeasuredLines {
  private final Map<String, Map<String, Rounds>> lines = new LinkedHashMap<>();

  void add(String label, String metric, double value) {
    if (Double.isFinite(value)) {
      lines
          .computeIfAbsent(label, unused -> new LinkedHashMap<>())
          .computeIfAbsent(metric, unused -> new Rounds())
          .add(value);
    }
  }

  void report(String scenario, int calls, Report report) {
    lines.forEach(
        (label, metrics) ->
            metrics.forEach(
                (metric, rounds) -> report.add(scenario, label, calls, metric, rounds)));
  }
}
