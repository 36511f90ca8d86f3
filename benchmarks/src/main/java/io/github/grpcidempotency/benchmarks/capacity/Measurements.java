package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.CsvFile;
import io.github.grpcidempotency.benchmarks.report.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The results of the benchmarks, as they are checked in. */
final class Measurements {
  private static final List<String> FILES =
      List.of(
          "calls",
          "cost-of-a-call",
          "record-size",
          "life-of-a-record",
          "steady-state",
          "sweep",
          "replay-of-the-log",
          "postgresql-18/calls",
          "postgresql-18/calls-across-a-network",
          "postgresql-18/replays");

  private final Map<String, List<Result>> results = new LinkedHashMap<>();

  private Measurements() {}

  /**
   * Reads them.
   *
   * @throws IOException if one of the files cannot be read
   */
  static Measurements read(Path directory) throws IOException {
    Measurements read = new Measurements();
    for (String file : FILES) {
      read.results.put(file, CsvFile.read(directory.resolve(file + ".csv")));
    }
    return read;
  }

  /** Returns the median of what was measured. */
  double of(String file, String variant, String metric) {
    return results.getOrDefault(file, List.of()).stream()
        .filter(result -> result.variant().equals(variant) && result.metric().equals(metric))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s.csv has no %s of %s".formatted(file, metric, variant)))
        .value();
  }
}
