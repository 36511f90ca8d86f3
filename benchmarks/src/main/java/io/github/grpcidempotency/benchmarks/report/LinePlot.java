package io.github.grpcidempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** A line for each variant over a few marks, with its name at its end. */
final class LinePlot {
  private static final int WIDTH = 1_000;
  private static final int HEIGHT = 440;
  private static final int LEFT = 60;
  private static final int RIGHT = 430;
  private static final int TOP = 50;
  private static final int BOTTOM = 50;
  private static final int LABEL = 16;

  /**
   * A line.
   *
   * @param variant whose it is
   * @param values one for each mark
   */
  record Line(String variant, List<Double> values) {
    double last() {
      return values.get(values.size() - 1);
    }
  }

  private LinePlot() {}

  static String of(
      String title,
      String below,
      List<String> marks,
      List<Line> lines,
      Axis axis,
      Palette palette) {
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (double tick : axis.ticks()) {
      svg.line("grid", LEFT, axis.at(tick), WIDTH - RIGHT, axis.at(tick));
      svg.text(LEFT - 8, axis.at(tick) + 4, "tick", "end", Numbers.tick(tick));
    }
    for (int mark = 0; mark < marks.size(); mark++) {
      svg.text(x(mark, marks), HEIGHT - BOTTOM + 20, "tick", "middle", marks.get(mark));
    }
    svg.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "tick", "middle", below);
    for (Line line : lines) {
      draw(svg, line, marks, axis, palette);
    }
    label(svg, lines, axis, palette);
    return svg.toString();
  }

  /** Makes the axis for values up to so much. */
  static Axis linearAxis(double most) {
    return Axis.linear(most, HEIGHT - BOTTOM, TOP);
  }

  /** Makes the axis for values whose magnitudes differ. */
  static Axis logarithmicAxis(double least, double most) {
    return Axis.logarithmic(least, most, HEIGHT - BOTTOM, TOP);
  }

  /** Makes the axis for values over many magnitudes. */
  static Axis magnitudesAxis(double least, double most) {
    return Axis.magnitudes(least, most, HEIGHT - BOTTOM, TOP);
  }

  private static void draw(Svg svg, Line line, List<String> marks, Axis axis, Palette palette) {
    String color = palette.color(line.variant());
    String style = color + " stroke line" + (palette.isDashed(line.variant()) ? " dashed" : "");
    for (int mark = 0; mark < marks.size(); mark++) {
      double y = axis.at(line.values().get(mark));
      if (mark > 0) {
        svg.line(
            style, x(mark - 1, marks), axis.at(line.values().get(mark - 1)), x(mark, marks), y);
      }
      svg.dot(color + " fill", x(mark, marks), y);
    }
  }

  /** From the top down, each at the height of its line's end or as near below as there is room. */
  private static void label(Svg svg, List<Line> lines, Axis axis, Palette palette) {
    List<Line> fromTop = new ArrayList<>(lines);
    fromTop.sort(Comparator.comparingDouble(line -> axis.at(line.last())));
    double end = WIDTH - RIGHT - 20;
    double free = TOP;
    for (int i = 0; i < fromTop.size(); i++) {
      Line line = fromTop.get(i);
      double wanted = axis.at(line.last());
      double lowest = HEIGHT - BOTTOM - LABEL * (double) (fromTop.size() - 1 - i);
      double y = Math.max(free, Math.min(wanted, lowest));
      String color = palette.color(line.variant());
      svg.line(color + " stroke", end + 6, wanted, end + 26, y);
      svg.text(
          end + 32,
          y + 4,
          "label",
          "start",
          "%s: %s".formatted(line.variant(), Numbers.plain(line.last())));
      free = y + LABEL;
    }
  }

  private static double x(int mark, List<String> marks) {
    double first = LEFT + 20;
    double last = WIDTH - RIGHT - 20;
    return marks.size() == 1 ? last : first + (last - first) * mark / (marks.size() - 1);
  }
}
