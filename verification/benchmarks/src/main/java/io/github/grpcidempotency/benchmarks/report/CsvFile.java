package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The results for other programs, one a line (RFC 4180). */
final class CsvFile {
  private CsvFile() {}

  static void write(Path file, List<Result> results) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("scenario,variant,calls,metric,median,least,most,aim,met");
    results.forEach(result -> lines.add(line(result)));
    Files.write(file, lines);
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
