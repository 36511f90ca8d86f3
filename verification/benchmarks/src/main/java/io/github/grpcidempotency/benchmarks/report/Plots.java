package io.github.grpcidempotency.benchmarks.report;

import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The plots of a scenario that compares calls: ratios as ranges. */
final class Plots {
  private static final String RATIO = "throughput ratio";
  private static final String THROUGHPUT = "calls/s";
  private static final int SHOWN_CALLS = 16;
  private static final int LOWEST_TICK = -10;
  private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);

  private Plots() {}

  /** Writes them, if the results have such metrics; the file names begin with the scenario's. */
  static void write(Path directory, String name, List<Result> results) throws IOException {
    String scenario = results.get(0).scenario();
    if (results.stream().noneMatch(result -> result.metric().equals(THROUGHPUT))) {
      return;
    }
    TreeSet<Integer> all = new TreeSet<>(results.stream().map(Result::calls).toList());
    int calls = all.contains(SHOWN_CALLS) ? SHOWN_CALLS : all.last();
    List<Result> shown = results.stream().filter(result -> result.calls() == calls).toList();
    List<Result> ratios = shown.stream().filter(each -> each.metric().equals(RATIO)).toList();
    if (!ratios.isEmpty()) {
      String atOnce = "; %s, %d at once".formatted(scenario, calls);
      save(ranges("Throughput, bare handler = 1" + atOnce, ratios), directory.resolve(name));
    }
  }

  /**
   * A line from the minimum to the maximum of the rounds for each variant, and a dot at the median.
   */
  private static XYChart ranges(String title, List<Result> results) {
    int rows = results.size();
    XYChart chart = new XYChartBuilder().width(900).height(110 + 26 * rows).title(title).build();
    style(chart.getStyler());
    chart.getStyler().setLegendVisible(false);
    chart
        .getStyler()
        .setYAxisMin(-1.0)
        .setYAxisMax((double) rows)
        .setXAxisMin(0.0)
        .setYAxisTickMarkSpacingHint(20)
        .setyAxisTickLabelsFormattingFunction(tick -> label(results, tick));
    for (int row = 0; row < rows; row++) {
      Result result = results.get(row);
      double y = rows - 1.0 - row;
      double[] across = {result.least(), result.most()};
      XYSeries range = chart.addSeries("range " + row, across, new double[] {y, y});
      range.setMarker(SeriesMarkers.NONE).setLineColor(Color.GRAY).setLineStyle(SeriesLines.SOLID);
      double[] middle = {result.value()};
      XYSeries median = chart.addSeries("median " + row, middle, new double[] {y});
      median.setMarker(SeriesMarkers.CIRCLE).setMarkerColor(Color.BLUE);
    }
    return chart;
  }

  /**
   * XChart draws fewer ticks while two have the same label, so an unused tick gets a label of its
   * own.
   */
  private static String label(List<Result> results, double tick) {
    int row = (int) Math.rint(results.size() - 1 - tick);
    boolean hasRow = Math.abs(tick - Math.rint(tick)) < 0.01 && row >= 0 && row < results.size();
    return hasRow
        ? "%s: %s".formatted(results.get(row).variant(), Result.plain(results.get(row).value()))
        : "\u200b".repeat(1 + (int) Math.rint(10 * Math.max(0, tick - LOWEST_TICK)));
  }

  private static void style(AxesChartStyler style) {
    style
        .setAxisTickLabelsFont(FONT)
        .setChartTitleFont(FONT.deriveFont(Font.BOLD, 14))
        .setLegendFont(FONT)
        .setChartBackgroundColor(Color.WHITE)
        .setPlotBorderVisible(false);
  }

  private static void save(Chart<?, ?> chart, Path file) throws IOException {
    VectorGraphicsEncoder.saveVectorGraphic(chart, file.toString(), VectorGraphicsFormat.SVG);
  }
}
