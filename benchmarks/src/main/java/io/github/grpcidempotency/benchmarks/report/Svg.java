package io.github.grpcidempotency.benchmarks.report;

import com.google.common.html.HtmlEscapers;
import java.util.Locale;

/** A drawing that shows on light pages and on dark ones. */
final class Svg {
  private static final String HEAD =
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
      <title>%3$s</title>
      <style>
        svg { --ink: #1f2328; --paper: #ffffff; --faint: #d8dee4; }
        @media (prefers-color-scheme: dark) {
          svg { --ink: #e6edf3; --paper: #0d1117; --faint: #30363d; }
        }
        text { font: 12px system-ui, sans-serif; fill: var(--ink); }
        .title { font-size: 15px; font-weight: 600; }
        .paper { fill: var(--paper); }
        .grid { stroke: var(--faint); }
        .range { stroke: var(--ink); }
        .line { fill: none; stroke-width: 2; }
        .s0 { --color: var(--ink); } .s1 { --color: #2f81f7; } .s2 { --color: #1a9e77; }
        .s3 { --color: #a371f7; } .s4 { --color: #0aa5c0; } .s5 { --color: #d13f8e; }
        .s6 { --color: #6f8f12; } .s7 { --color: #5b6ee1; } .s8 { --color: #e0701a; }
        .s9 { --color: #c93c37; } .s10 { --color: #b08800; } .s11 { --color: #9a5b3f; }
        .s12 { --color: #8b949e; }
        .stroke { stroke: var(--color); } .fill { fill: var(--color); }
        .dashed { stroke-dasharray: 6 4; }
      </style>
      <rect class="paper" width="100%%" height="100%%"/>
      """;

  private final StringBuilder text;

  Svg(int width, int height, String title) {
    this.text = new StringBuilder(HEAD.formatted(width, height, escape(title)));
    text(16, 26, "title", "start", title);
  }

  void line(String kind, double x1, double y1, double x2, double y2) {
    add(
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>%n",
        kind, x1, y1, x2, y2);
  }

  void bar(String kind, double x, double y, double width, double height) {
    add(
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>%n",
        kind, x, y, width, height);
  }

  void dot(String kind, double x, double y) {
    add("<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>%n", kind, x, y);
  }

  void text(double x, double y, String kind, String anchor, String words) {
    add(
        "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n",
        kind, x, y, anchor, escape(words));
  }

  private void add(String element, Object... values) {
    text.append(String.format(Locale.ROOT, element, values));
  }

  private static String escape(String words) {
    return HtmlEscapers.htmlEscaper().escape(words);
  }

  @Override
  public String toString() {
    return text + "</svg>\n";
  }
}
