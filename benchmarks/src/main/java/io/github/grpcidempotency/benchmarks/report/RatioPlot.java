package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.style.Styler;

/** Throughput as ratios to the bare handler: a group of bars per variant. */
final class RatioPlot {
  private static final String SCENARIO = "calls";
  private static final String METRIC = "throughput ratio";

  private RatioPlot() {}

  static void write(Path file, List<Result> all) throws IOException {
    List<Result> results =
        all.stream()
            .filter(each -> each.scenario().equals(SCENARIO) && each.metric().equals(METRIC))
            .toList();
    if (results.isEmpty()) {
      return;
    }
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(1100)
            .height(620)
            .title("Throughput, bare handler = 1")
            .yAxisTitle("ratio")
            .build();
    chart.getStyler().setLegendPosition(Styler.LegendPosition.InsideNW);
    chart.getStyler().setXAxisLabelRotation(25);
    chart.getStyler().setLabelsVisible(true);
    chart.getStyler().setYAxisMin(0.0);
    Set<String> variants = new LinkedHashSet<>();
    Set<Integer> calls = new TreeSet<>();
    for (Result result : results) {
      variants.add(result.variant());
      calls.add(result.calls());
    }
    for (int each : calls) {
      chart.addSeries(
          each == 1 ? "1 call" : each + " calls",
          List.copyOf(variants),
          variants.stream().map(variant -> ratio(results, variant, each)).toList());
    }
    VectorGraphicsEncoder.saveVectorGraphic(chart, file.toString(), VectorGraphicsFormat.SVG);
  }

  private static double ratio(List<Result> results, String variant, int calls) {
    return results.stream()
        .filter(result -> result.variant().equals(variant) && result.calls() == calls)
        .mapToDouble(Result::value)
        .findFirst()
        .orElse(0);
  }
}
