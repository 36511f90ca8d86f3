package io.github.grpcidempotency.benchmarks.report;

import java.util.List;
import java.util.Map;

/** A scenario's table, with the circumstances that it came about under. */
final class MarkdownPage {
  private MarkdownPage() {}

  static String of(String scenario, Map<String, String> circumstances, List<Result> results) {
    StringBuilder page = new StringBuilder(ResultTable.of(scenario, results));
    page.append("\nWritten by the benchmark program. Median of the rounds (least–most); ");
    page.append("✓ and ✗ say whether an aim is met.\n\n");
    circumstances.forEach(
        (name, value) -> page.append("- ").append(name).append(": ").append(value).append("\n"));
    return page.append("\n").append(AimsSummary.of(results)).toString();
  }
}
