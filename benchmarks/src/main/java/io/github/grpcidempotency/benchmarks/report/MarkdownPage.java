package io.github.grpcidempotency.benchmarks.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All tables, with the circumstances that they came about under. */
final class MarkdownPage {
  private MarkdownPage() {}

  static String of(Map<String, String> circumstances, List<Result> results) {
    StringBuilder page = new StringBuilder("# Results\n\n");
    page.append("Written by the benchmark program. Median of the rounds (least–most); ");
    page.append("✓ and ✗ say whether an aim is met.\n\n");
    circumstances.forEach(
        (name, value) -> page.append("- ").append(name).append(": ").append(value).append("\n"));
    page.append("\n").append(AimsSummary.of(results)).append("\n");
    Set<String> scenarios = new LinkedHashSet<>();
    results.forEach(result -> scenarios.add(result.scenario()));
    for (String scenario : scenarios) {
      page.append(ResultTable.of(scenario, results)).append("\n");
    }
    return page.toString();
  }
}
