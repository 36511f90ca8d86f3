package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the demo, and writes its output with its times to {@code docs/demo.svg}, an animation
 * without scripts. Each scene is a page. So that a reader can follow, a line is shown for at least
 * {@value #READ_SECONDS} seconds before the next one, and a wait lasts no longer than {@value
 * #WAIT_SECONDS}.
 */
public final class DemoRecording {
  private static final double READ_SECONDS = 0.4;
  private static final double WAIT_SECONDS = 3;
  private static final double PAGE_SECONDS = 1.5;
  private static final double END_SECONDS = 6;
  private static final double CHARACTER = 10;
  private static final int COLUMNS = 66;
  private static final int ROW = 23;
  private static final Pattern STYLED = Pattern.compile("\u001b\\[([0-9;]*)m");

  /** The classes of the styles that the demo uses. */
  private static final Map<String, String> CLASSES =
      Map.of("1", "b", "2", "f", "31", "r", "32", "g", "33", "y", "36", "c");

  private static final String STYLE =
      """
      rect{fill:#fff}svg{color:#1f2328;font:16.6px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
      text{fill:currentColor;white-space:pre}.b{font-weight:700}.f{fill:#656d76}
      .r{fill:#cf222e}.g{fill:#1a7f37}.y{fill:#9a6700}.c{fill:#0969da}
      @media(prefers-color-scheme:dark){rect{fill:#0d1117}svg{color:#e6edf3}.f{fill:#8d96a0}
      .r{fill:#ff7b72}.g{fill:#3fb950}.y{fill:#d29922}.c{fill:#58a6ff}}
      """;

  /** A piece of a line, and when it was printed. */
  private record Piece(double second, int column, String text, String style) {}

  private final List<List<List<Piece>>> pages = new ArrayList<>();
  private final StringBuilder frames = new StringBuilder();
  private final StringBuilder body = new StringBuilder();
  private double total;

  private DemoRecording() {}

  public static void main(String... none) throws IOException {
    DemoRecording recording = new DemoRecording();
    recording.run();
    recording.draw();
    Files.writeString(RepositoryRoot.PATH.resolve("docs/demo.svg"), recording.svg());
  }

  /** Reads the output in the pieces in which it arrives. */
  private void run() throws IOException {
    System.setProperty("picocli.ansi", "true");
    PrintStream console = System.out;
    PipedInputStream printed = new PipedInputStream();
    System.setOut(new PrintStream(new PipedOutputStream(printed), true, UTF_8));
    Thread demo = new Thread(() -> play(console));
    demo.start();
    List<List<Piece>> page = new ArrayList<>();
    List<Piece> line = new ArrayList<>();
    double second = 0;
    long before = System.nanoTime();
    try (BufferedReader out = new BufferedReader(new InputStreamReader(printed, UTF_8))) {
      String style = "";
      StringBuilder text = new StringBuilder();
      int column = 0;
      for (int next = out.read(); next >= 0; next = out.read()) {
        text.append((char) next);
        boolean ends = next == '\n';
        if (!ends && out.ready()) {
          continue;
        }
        long now = System.nanoTime();
        boolean written = !line.isEmpty() || !text.toString().isBlank();
        double least = ends && written ? READ_SECONDS : 0;
        second += Math.min(WAIT_SECONDS, Math.max(least, (now - before) / 1e9));
        before = now;
        Matcher styled = STYLED.matcher(text);
        int from = 0;
        while (styled.find()) {
          column = add(line, second, column, text.substring(from, styled.start()), style);
          String codes = styled.group(1);
          style =
              List.of(codes.split(";")).stream()
                  .map(code -> CLASSES.getOrDefault(code, ""))
                  .collect(joining(" "))
                  .strip();
          from = styled.end();
        }
        column = add(line, second, column, text.substring(from).replace("\n", ""), style);
        text.setLength(0);
        if (ends) {
          if (line.isEmpty() && !page.isEmpty()) { // a blank line ends a scene
            pages.add(page);
            page = new ArrayList<>();
            second += PAGE_SECONDS;
          } else if (!line.isEmpty()) {
            page.add(line);
          }
          line = new ArrayList<>();
          column = 0;
        }
      }
      pages.get(pages.size() - 1).addAll(page); // the last line belongs to the summary
    }
    total = second + END_SECONDS;
  }

  private static void play(PrintStream console) {
    int code = Example.run();
    System.out.close();
    System.setOut(console);
    System.out.println("the demo has ended with " + code);
  }

  private static int add(List<Piece> line, double second, int column, String text, String style) {
    if (!text.isEmpty()) {
      line.add(new Piece(second, column, text, style));
    }
    return column + text.length();
  }

  private void draw() {
    Map<String, String> known = new HashMap<>();
    for (int number = 0; number < pages.size(); number++) {
      boolean last = number == pages.size() - 1;
      double end = last ? total : pages.get(number + 1).get(0).get(0).second();
      body.append(last ? "<g class=\"last\">" : "<g class=\"page\">");
      int y = ROW;
      for (List<Piece> line : pages.get(number)) {
        y += ROW;
        for (Piece piece : line) {
          String from = percent(piece.second());
          String frame =
              known.computeIfAbsent(
                  from + " " + percent(end),
                  times -> {
                    String name = "k" + known.size();
                    frames.append(
                        "@keyframes %s{0%%{visibility:hidden}%s{visibility:visible}%s{visibility:hidden}}\n"
                            .formatted(name, from, last ? "100.1%" : percent(end)));
                    return name;
                  });
          body.append(
              "<text x=\"%.0f\" y=\"%d\" class=\"%s\" style=\"animation-name:%s\" textLength=\"%.0f\">%s</text>\n"
                  .formatted(
                      CHARACTER * (piece.column() + 1),
                      y,
                      piece.style(),
                      frame,
                      CHARACTER * piece.text().length(),
                      piece.text().replace("&", "&amp;").replace("<", "&lt;")));
        }
      }
      body.append("</g>\n");
    }
  }

  private String percent(double second) {
    return String.format(Locale.ROOT, "%.2f%%", 100 * second / total);
  }

  private String svg() {
    int rows = pages.stream().mapToInt(List::size).max().orElse(0) + 2;
    return """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="800" style="max-width:100%%;height:auto" role="img">
        <title>The demo, recorded: a server is killed in the middle of a handler, and a retry gets the answer.</title>
        <style>
        %stext{animation:%.1fs step-end infinite;visibility:hidden}
        @media(prefers-reduced-motion:reduce){text{animation:none}.last text{visibility:visible}}
        %s</style>
        <rect width="100%%" height="100%%"/>
        %s</svg>
        """
        .formatted((int) ((COLUMNS + 1) * CHARACTER), rows * ROW, STYLE, total, frames, body);
  }
}
