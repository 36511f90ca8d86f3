package io.github.grpcidempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Lines over marks, each ten times the one before, on an axis of magnitudes. */
public final class MagnitudePlot {
  private MagnitudePlot() {}

  /**
   * Returns the drawing.
   *
   * @param below what the marks are
   * @param lines their values, more than zero, by name; the first is what the others are held
   *     against
   */
  public static String of(
      String title, String below, List<String> marks, Map<String, List<Double>> lines) {
    Map<String, Kind> kinds = new LinkedHashMap<>();
    List<LinePlot.Line> drawn = new ArrayList<>();
    lines.forEach(
        (name, values) -> {
          kinds.put(name, kinds.isEmpty() ? Kind.REFERENCE : Kind.OURS);
          drawn.add(new LinePlot.Line(name, values));
        });
    double least = all(drawn).stream().mapToDouble(each -> each).min().orElse(1);
    double most = all(drawn).stream().mapToDouble(each -> each).max().orElse(1);
    return LinePlot.of(
        title, below, marks, drawn, LinePlot.magnitudesAxis(least, most), new Palette(kinds));
  }

  private static List<Double> all(List<LinePlot.Line> lines) {
    return lines.stream().flatMap(line -> line.values().stream()).toList();
  }
}
