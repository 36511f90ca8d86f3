package io.github.grpcidempotency.benchmarks.report;

import java.util.List;

/** A bar for each variant, with the extremes of its rounds. */
final class BarPlot {
  private static final int WIDTH = 900;
  private static final int LEAST_LEFT = 330;
  private static final double CHARACTER = 6.4;
  private static final int RIGHT = 50;
  private static final int TOP = 44;
  private static final int STEP = 24;
  private static final int BAR = 14;

  private BarPlot() {}

  static String of(String title, List<Result> results, Palette palette) {
    double most = results.stream().mapToDouble(Result::most).max().orElse(1);
    int left =
        results.stream()
            .mapToInt(result -> (int) (CHARACTER * result.variant().length()) + 20)
            .reduce(LEAST_LEFT, Math::max);
    Axis axis = Axis.linear(most, left, WIDTH - RIGHT);
    int bottom = TOP + STEP * results.size();
    Svg svg = new Svg(WIDTH, bottom + 30, title);
    for (double tick : axis.ticks()) {
      svg.line("grid", axis.at(tick), TOP - 4, axis.at(tick), bottom);
      svg.text(axis.at(tick), bottom + 18, "tick", "middle", Numbers.plain(tick));
    }
    for (int row = 0; row < results.size(); row++) {
      Result result = results.get(row);
      double y = TOP + STEP * row;
      double middle = y + BAR / 2.0;
      svg.text(left - 10, middle + 4, "label", "end", result.variant());
      svg.bar(
          palette.color(result.variant()) + " fill", left, y, axis.at(result.value()) - left, BAR);
      if (result.least() < result.most()) {
        svg.line("range", axis.at(result.least()), middle, axis.at(result.most()), middle);
      }
      svg.text(
          axis.at(result.most()) + 6, middle + 4, "value", "start", Numbers.plain(result.value()));
    }
    return svg.toString();
  }
}
