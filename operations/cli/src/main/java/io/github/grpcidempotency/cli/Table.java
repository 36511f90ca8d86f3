package io.github.grpcidempotency.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Rows under headings. Each column is as wide as its widest cell. */
final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  Table(String... headings) {
    add(headings);
  }

  void add(String... cells) {
    rows.add(Stream.of(cells).map(Printable::text).toList());
  }

  /** Returns the lines, the headings first. */
  List<String> lines() {
    int[] widths =
        IntStream.range(0, rows.get(0).size())
            .map(column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
            .toArray();
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> cells, int[] widths) {
    return IntStream.range(0, widths.length)
        .mapToObj(
            column -> cells.get(column) + " ".repeat(widths[column] - cells.get(column).length()))
        .collect(Collectors.joining(GAP))
        .stripTrailing();
  }
}
