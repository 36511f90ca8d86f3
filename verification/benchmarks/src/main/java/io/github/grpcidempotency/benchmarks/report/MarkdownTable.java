package io.github.grpcidempotency.benchmarks.report;

import java.util.List;
import java.util.stream.IntStream;

/** A Markdown table whose columns stand below each other in its source, too. */
public final class MarkdownTable {
  private MarkdownTable() {}

  /** Returns the table; its first line is the head. */
  public static String of(List<List<String>> lines) {
    int[] widths =
        IntStream.range(0, lines.get(0).size())
            .map(i -> lines.stream().mapToInt(line -> line.get(i).length()).max().orElse(0))
            .toArray();
    StringBuilder text = new StringBuilder();
    for (int row = 0; row < lines.size(); row++) {
      append(text, lines.get(row), widths, " ");
      if (row == 0) {
        append(text, lines.get(0).stream().map(title -> "").toList(), widths, "-");
      }
    }
    return text.toString();
  }

  private static void append(StringBuilder text, List<String> cells, int[] widths, String filler) {
    for (int i = 0; i < widths.length; i++) {
      text.append("|").append(filler).append(cells.get(i));
      text.append(filler.repeat(widths[i] - cells.get(i).length() + 1));
    }
    text.append("|\n");
  }
}
