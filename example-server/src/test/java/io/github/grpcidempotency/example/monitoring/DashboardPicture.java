package io.github.grpcidempotency.example.monitoring;

import io.github.grpcidempotency.example.monitoring.Dashboard.Panel;
import io.github.grpcidempotency.example.monitoring.Dashboard.Query;
import io.github.grpcidempotency.example.monitoring.Dashboard.Row;
import io.github.grpcidempotency.example.monitoring.Prometheus.Point;
import io.github.grpcidempotency.example.monitoring.Prometheus.Series;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * Draws a dashboard as Grafana would, roughly, from the answers of a Prometheus to the same
 * queries.
 */
public final class DashboardPicture {
  private static final int COLUMNS = 3;
  private static final int WIDTH = 460;
  private static final int TITLE = 24;
  private static final int PLOT = 150;
  private static final int LEGEND_LINE = 15;
  private static final int LEGEND_LINES = 3;
  private static final int HEIGHT = TITLE + PLOT + LEGEND_LINES * LEGEND_LINE + 12;
  private static final int HEADING = 34;
  private static final int MARGIN = 10;
  private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 11);
  private static final Font BOLD = new Font(Font.SANS_SERIF, Font.BOLD, 13);
  private static final Font LARGE = new Font(Font.SANS_SERIF, Font.BOLD, 16);
  private static final Color INK = new Color(0x333333);
  private static final Color PALE = new Color(0xE4E4E4);
  private static final List<Color> COLORS =
      List.of(
          new Color(0x2F7ED8),
          new Color(0xE8792B),
          new Color(0x3A9E4B),
          new Color(0xC23B3B),
          new Color(0x8A5FBF),
          new Color(0x1FA3A3),
          new Color(0xB8860B),
          new Color(0xD15FA6),
          new Color(0x6B7A8F));

  private final Prometheus prometheus;
  private final String rateInterval;
  private final Instant from;
  private final Instant to;

  /**
   * Prepares a picture of a span of time.
   *
   * @param rateInterval over which rates are taken, as Prometheus writes durations
   */
  public DashboardPicture(Prometheus prometheus, String rateInterval, Instant from, Instant to) {
    this.prometheus = prometheus;
    this.rateInterval = rateInterval;
    this.from = from;
    this.to = to;
  }

  /** Draws the dashboard into a file of type PNG. */
  public void write(Dashboard dashboard, Path file) throws IOException {
    int height =
        MARGIN
            + HEADING
            + dashboard.rows().stream().mapToInt(row -> HEADING + lines(row) * HEIGHT).sum();
    BufferedImage image =
        new BufferedImage(
            COLUMNS * WIDTH + 2 * MARGIN, height + MARGIN, BufferedImage.TYPE_INT_RGB);
    Graphics2D paper = image.createGraphics();
    paper.setRenderingHint(
        RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    paper.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    paper.setColor(Color.WHITE);
    paper.fillRect(0, 0, image.getWidth(), image.getHeight());
    int y = MARGIN;
    text(paper, LARGE, INK, dashboard.title(), MARGIN + 4, y + 20);
    y += HEADING;
    for (Row row : dashboard.rows()) {
      paper.setColor(PALE);
      paper.fillRect(MARGIN, y + 6, COLUMNS * WIDTH, HEADING - 10);
      text(paper, BOLD, INK, row.title(), MARGIN + 8, y + 23);
      y += HEADING;
      for (int i = 0; i < row.panels().size(); i++) {
        draw(
            row.panels().get(i),
            (Graphics2D)
                paper.create(
                    MARGIN + i % COLUMNS * WIDTH, y + i / COLUMNS * HEIGHT, WIDTH, HEIGHT));
      }
      y += lines(row) * HEIGHT;
    }
    paper.dispose();
    Files.createDirectories(file.toAbsolutePath().getParent());
    ImageIO.write(Palette.of(image), "png", file.toFile());
  }

  private static int lines(Row row) {
    return (row.panels().size() + COLUMNS - 1) / COLUMNS;
  }

  private record Line(String name, List<Point> points) {
    double peak() {
      return points.stream().mapToDouble(Point::value).max().orElse(0);
    }
  }

  private void draw(Panel panel, Graphics2D paper) {
    List<Line> lines = new ArrayList<>();
    for (Query query : panel.queries()) {
      for (Series series :
          prometheus.query(query.expression(rateInterval), from, to, Prometheus.INTERVAL)) {
        if (!series.points().isEmpty()) {
          lines.add(new Line(named(query.legend(), series.labels()), series.points()));
        }
      }
    }
    if (panel.queries().size() == 1) {
      lines.sort(Comparator.comparingDouble(Line::peak).reversed()); // the legend is short
    }
    text(paper, BOLD, INK, panel.title(), 8, 17);
    Unit unit = Unit.of(panel.unit());
    int titled = paper.getFontMetrics(BOLD).stringWidth(panel.title());
    text(paper, TEXT, Color.GRAY, unit.words, 16 + titled, 17);
    if (lines.isEmpty()) {
      text(paper, TEXT, Color.GRAY, "No data", WIDTH / 2 - 20, TITLE + PLOT / 2);
    } else {
      plot(lines, unit, (Graphics2D) paper.create(0, TITLE, WIDTH - 6, PLOT));
      legend(lines, paper);
    }
    paper.dispose();
  }

  private static String named(String legend, Map<String, String> labels) {
    String name = legend;
    for (Map.Entry<String, String> label : labels.entrySet()) {
      String value = label.getValue();
      name =
          name.replace(
              "{{" + label.getKey() + "}}",
              label.getKey().equals("procedure")
                  ? value.substring(value.lastIndexOf('/') + 1) // the picture is narrow
                  : value);
    }
    return name;
  }

  private void plot(List<Line> lines, Unit unit, Graphics2D paper) {
    XYChart chart = new XYChartBuilder().width(WIDTH - 6).height(PLOT).build();
    XYStyler style = chart.getStyler();
    style.setLegendVisible(false);
    style.setChartBackgroundColor(Color.WHITE);
    style.setPlotBorderVisible(false);
    style.setPlotGridLinesColor(PALE);
    style.setPlotGridLinesStroke(new BasicStroke(1));
    style.setAxisTickLabelsFont(TEXT);
    style.setAxisTickMarkLength(3);
    style.setChartPadding(4);
    style.setYAxisMin(0.0);
    double most = lines.stream().mapToDouble(Line::peak).max().orElse(0);
    style.setYAxisMax(most > 0 ? most * 1.05 : 1);
    style.setXAxisMin(0.0);
    style.setXAxisMax((double) Duration.between(from, to).toSeconds());
    chart.setCustomXAxisTickLabelsFormatter(
        seconds -> "%d:%02d".formatted(seconds.longValue() / 60, seconds.longValue() % 60));
    chart.setCustomYAxisTickLabelsFormatter(unit::format);
    for (int i = 0; i < lines.size(); i++) {
      List<Point> points = lines.get(i).points();
      XYSeries series =
          chart.addSeries(
              String.valueOf(i),
              points.stream().map(point -> seconds(point.at())).toList(),
              points.stream().map(Point::value).toList());
      series.setMarker(SeriesMarkers.NONE);
      series.setLineColor(COLORS.get(i % COLORS.size()));
      series.setLineWidth(1.6f);
    }
    chart.paint(paper, WIDTH - 6, PLOT);
    paper.dispose();
  }

  private double seconds(Instant at) {
    return Duration.between(from, at).toMillis() / 1000.0;
  }

  private static void legend(List<Line> lines, Graphics2D paper) {
    int x = 10;
    int y = TITLE + PLOT + 12;
    int row = 1;
    for (int i = 0; i < lines.size(); i++) {
      int width = paper.getFontMetrics(TEXT).stringWidth(lines.get(i).name()) + 26;
      if (x + width > WIDTH && x > 10) {
        if (row == LEGEND_LINES) {
          text(paper, TEXT, Color.GRAY, "…", x, y);
          return;
        }
        x = 10;
        y += LEGEND_LINE;
        row++;
      }
      paper.setColor(COLORS.get(i % COLORS.size()));
      paper.fillRect(x, y - 6, 12, 4);
      text(paper, TEXT, INK, lines.get(i).name(), x + 16, y);
      x += width + 6;
    }
  }

  private static void text(Graphics2D paper, Font font, Color color, String text, int x, int y) {
    paper.setFont(font);
    paper.setColor(color);
    paper.drawString(text, x, y);
  }

  /** A unit of Grafana. */
  private enum Unit {
    PER_SECOND("reqps", "per second"),
    PER_MINUTE("cpm", "per minute"),
    SECONDS("s", "duration") {
      @Override
      String format(double value) {
        return value == 0
            ? "0"
            : value < 1 ? shortest(value * 1000) + " ms" : shortest(value) + " s";
      }
    },
    BYTES("bytes", "bytes") {
      @Override
      String format(double value) {
        return value < 1 << 20
            ? Math.round(value / (1 << 10)) + " KiB"
            : shortest(value / (1 << 20)) + " MiB";
      }
    },
    SHARE("percentunit", "share") {
      @Override
      String format(double value) {
        return shortest(value * 100) + " %";
      }
    },
    NUMBER("short", "number");

    private final String grafana;
    final String words;

    Unit(String grafana, String words) {
      this.grafana = grafana;
      this.words = words;
    }

    static Unit of(String grafana) {
      for (Unit unit : values()) {
        if (unit.grafana.equals(grafana)) {
          return unit;
        }
      }
      throw new IllegalArgumentException("no unit that can be drawn: " + grafana);
    }

    String format(double value) {
      return shortest(value);
    }

    private static String shortest(double value) {
      String rounded = String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
      return rounded.replaceFirst("\\.?0+$", "");
    }
  }
}
