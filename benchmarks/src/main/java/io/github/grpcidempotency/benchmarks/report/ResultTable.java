package io.github.grpcidempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The results of one scenario as a Markdown table: a line per variant and number of calls, a column
 * per metric.
 */
final class ResultTable {
  private final List<Result> results;
  private final List<List<String>> lines = new ArrayList<>();

  /** What a line is about. */
  private record Subject(String variant, int calls) {
    static Subject of(Result result) {
      return new Subject(result.variant(), result.calls());
    }
  }

  private ResultTable(List<Result> results) {
    this.results = results;
  }

  static String of(String scenario, List<Result> all) {
    ResultTable table =
        new ResultTable(all.stream().filter(each -> each.scenario().equals(scenario)).toList());
    return "# " + scenario + "\n\n" + table.render();
  }

  private String render() {
    Set<Subject> subjects = new LinkedHashSet<>();
    Set<String> metrics = new LinkedHashSet<>();
    for (Result result : results) {
      subjects.add(Subject.of(result));
      metrics.add(result.metric());
    }
    List<String> head = new ArrayList<>(List.of("", "calls"));
    head.addAll(metrics);
    lines.add(head);
    for (Subject subject : subjects) {
      List<String> line = new ArrayList<>();
      line.add(subject.variant());
      line.add(subject.calls() == 0 ? "" : Integer.toString(subject.calls()));
      metrics.forEach(metric -> line.add(cell(subject, metric)));
      lines.add(line);
    }
    return MarkdownTable.of(lines);
  }

  private String cell(Subject subject, String metric) {
    return results.stream()
        .filter(result -> Subject.of(result).equals(subject) && result.metric().equals(metric))
        .findFirst()
        .map(ResultTable::cell)
        .orElse("");
  }

  private static String cell(Result result) {
    String spread =
        result.least() == result.most()
            ? ""
            : " (" + Numbers.plain(result.least()) + "–" + Numbers.plain(result.most()) + ")";
    String aim = result.aim().map(held -> (held.isMetBy(result) ? " ✓ " : " ✗ ") + held).orElse("");
    return Numbers.plain(result.value()) + spread + aim;
  }
}
