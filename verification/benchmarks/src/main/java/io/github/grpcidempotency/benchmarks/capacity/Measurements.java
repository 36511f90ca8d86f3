package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.CsvFile;
import io.github.grpcidempotency.benchmarks.report.Result;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The results of the benchmarks that are checked in. */
final class Measurements {
  static final String CALLS = "calls";
  static final String NETWORK = "calls-across-a-network";
  static final String REPLAYS = "replays";
  static final String CALLS_ON_17 = "postgresql-17/calls";
  static final String COUNTED = "cost-of-a-call";
  static final String SIZE = "record-size";
  static final String LIFE = "life-of-a-record";
  static final String STEADY = "steady-state";
  static final String LOG_REPLAY = "replay-of-the-log";

  /** The answers that records were measured with. */
  private static final List<Integer> SIZES = List.of(100, 1_024, 4_096, 10_240);

  private final Path directory;
  private final Map<String, List<Result>> files = new ConcurrentHashMap<>();

  Measurements(Path directory) {
    this.directory = directory;
  }

  /**
   * Returns the median of a measurement.
   *
   * @throws IllegalArgumentException if the results do not contain it
   */
  double of(String file, String variant, String metric) {
    return files.computeIfAbsent(file, this::read).stream()
        .filter(result -> result.variant().equals(variant) && result.metric().equals(metric))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "%s.csv has no %s of %s".formatted(file, metric, variant)))
        .value();
  }

  /**
   * Returns a measurement of records with an answer of a size, interpolated between two sizes if
   * necessary.
   */
  double ofRecord(String file, Variant way, int answerBytes, String metric) {
    int above = 1;
    while (above < SIZES.size() - 1 && SIZES.get(above) < answerBytes) {
      above++;
    }
    int less = SIZES.get(above - 1);
    int more = SIZES.get(above);
    double atLess = of(file, recordsOf(way, less), metric);
    double atMore = of(file, recordsOf(way, more), metric);
    return Math.max(0, atLess + (atMore - atLess) * (answerBytes - less) / (more - less));
  }

  private static String recordsOf(Variant way, int answerBytes) {
    Variant measured =
        Model.isReserved(way) ? Variant.RESERVED_SAME_DATABASE : Variant.TRANSACTIONAL;
    return "%s, answers of %,d B".formatted(measured.label(), answerBytes);
  }

  private List<Result> read(String file) {
    try {
      return CsvFile.read(directory.resolve(file + ".csv"));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
