package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The results for other programs, one a line (RFC 4180). */
public final class CsvFile {
  private static final Pattern LINE =
      Pattern.compile("\"([^\"]*)\",\"([^\"]*)\",(\\d+),\"([^\"]*)\",([^,]+),([^,]+),([^,]+),.*");

  private CsvFile() {}

  static void write(Path file, List<Result> results) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("scenario,variant,calls,metric,median,least,most,aim,met");
    results.forEach(result -> lines.add(line(result)));
    Files.write(file, lines);
  }

  /**
   * Reads results.
   *
   * @throws IOException if it cannot be read
   * @throws IllegalArgumentException if it was not written by {@link #write}
   */
  public static List<Result> read(Path file) throws IOException {
    return Files.readAllLines(file).stream().skip(1).map(line -> result(file, line)).toList();
  }

  private static Result result(Path file, String line) {
    Matcher fields = LINE.matcher(line);
    if (!fields.matches()) {
      throw new IllegalArgumentException("%s: not a result: %s".formatted(file, line));
    }
    return new Result(
        fields.group(1),
        fields.group(2),
        Integer.parseInt(fields.group(3)),
        fields.group(4),
        Double.parseDouble(fields.group(5)),
        Double.parseDouble(fields.group(6)),
        Double.parseDouble(fields.group(7)));
  }

  private static String line(Result result) {
    return String.join(
        ",",
        quoted(result.scenario()),
        quoted(result.variant()),
        Integer.toString(result.calls()),
        quoted(result.metric()),
        number(result.value()),
        number(result.least()),
        number(result.most()),
        result.aim().map(Aim::toString).orElse(""),
        result.aim().map(aim -> Boolean.toString(aim.isMetBy(result))).orElse(""));
  }

  private static String quoted(String text) {
    return '"' + text.replace("\"", "\"\"") + '"';
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.4f", value);
  }
}
