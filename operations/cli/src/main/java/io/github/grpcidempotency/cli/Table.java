package io.github.grpcidempotency.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Rows under headings, fitted to a width: columns are narrowed, and then the least important ones
 * are left out. The JSON output contains all columns.
 */
final class Table {
  private static final String GAP = "  ";
  private static final int MIN_FLOW = 16;

  private final List<Column> columns;
  private final List<List<String>> rows = new ArrayList<>();

  Table(Column... columns) {
    this.columns = List.of(columns);
  }

  /**
   * A column.
   *
   * @param heading its name
   * @param rank 0 if it must not be left out; columns with the highest rank are left out first
   * @param narrowest its minimum width; 0 if it must not be cut, and {@link #FLOWS} for a last
   *     column that is always written in full
   */
  record Column(String heading, int rank, int narrowest) {
    static final int FLOWS = -1;

    /** Returns a last column that is always written in full. */
    static Column flowing(String heading) {
      return new Column(heading, 0, FLOWS);
    }

    /** Returns a column that is never cut or left out. */
    static Column fixed(String heading) {
      return new Column(heading, 0, 0);
    }
  }

  void add(String... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException("%d cells".formatted(cells.length));
    }
    rows.add(List.of(cells).stream().map(TextWidth::printable).toList());
  }

  /** Returns the lines, the headings first. */
  List<String> lines(int width) {
    List<Integer> shown = shown(width);
    int[] widths = widths(shown, width);
    List<String> lines = new ArrayList<>();
    lines.add(line(columns.stream().map(Column::heading).toList(), shown, widths));
    rows.forEach(row -> lines.add(line(row, shown, widths)));
    return lines;
  }

  private String line(List<String> cells, List<Integer> shown, int[] widths) {
    return IntStream.range(0, shown.size())
        .mapToObj(
            i ->
                columns.get(shown.get(i)).narrowest() == Column.FLOWS
                    ? cells.get(shown.get(i))
                    : TextWidth.fit(cells.get(shown.get(i)), widths[i]))
        .collect(Collectors.joining(GAP))
        .stripTrailing();
  }

  private List<Integer> shown(int width) {
    List<Integer> shown = new ArrayList<>(IntStream.range(0, columns.size()).boxed().toList());
    while (total(shown.stream().map(this::narrowest).toList()) > width) {
      int last =
          shown.stream()
              .max(Comparator.comparingInt((Integer i) -> columns.get(i).rank()))
              .orElseThrow();
      if (columns.get(last).rank() == 0) {
        break;
      }
      shown.remove((Integer) last);
    }
    return shown;
  }

  private int[] widths(List<Integer> shown, int width) {
    int[] widths = shown.stream().mapToInt(this::natural).toArray();
    int excess = total(IntStream.of(widths).boxed().toList()) - width;
    while (excess > 0) {
      int widest = -1;
      for (int i = 0; i < widths.length; i++) {
        if (widths[i] > narrowest(shown.get(i)) && (widest < 0 || widths[i] > widths[widest])) {
          widest = i;
        }
      }
      if (widest < 0) {
        break;
      }
      widths[widest]--;
      excess--;
    }
    return widths;
  }

  private static int total(List<Integer> widths) {
    return widths.stream().mapToInt(Integer::intValue).sum()
        + GAP.length() * Math.max(0, widths.size() - 1);
  }

  private int natural(int column) {
    if (columns.get(column).narrowest() == Column.FLOWS) {
      return MIN_FLOW;
    }
    return Math.max(
        TextWidth.of(columns.get(column).heading()),
        rows.stream().mapToInt(row -> TextWidth.of(row.get(column))).max().orElse(0));
  }

  private int narrowest(int column) {
    int least = columns.get(column).narrowest();
    int natural = natural(column);
    return least <= 0 ? natural : Math.min(least, natural);
  }
}
