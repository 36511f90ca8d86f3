package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.Crash;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The processor time for replaying the log of records, which a replica does in a single process.
 * The pages are in memory, and full-page images are not among it.
 */
public final class LogReplay {
  private static final int WRITERS = 8;
  private static final int ANSWER_BYTES = 1_024;

  /** The server counts in hundredths of a second. */
  private static final int TIMES_MEASURED_RECORDS = 6;

  private LogReplay() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    int records = pace.measuredRecords() * TIMES_MEASURED_RECORDS;
    report.progress("writing %,d records", records);
    database.execute("CHECKPOINT");
    double before = database.logPosition();
    try (StoreCalls calls = new StoreCalls(database, WRITERS)) {
      Supplier<UUID> keys = UuidCreator::getTimeOrderedEpoch;
      calls
          .writes(Variant.TRANSACTIONAL, keys, ANSWER_BYTES, Duration.ofDays(1), records)
          .run();
    }
    double bytes = database.logPosition() - before;
    double micros = Crash.replay(database.superuser()).toNanos() / 1e3;
    String label = "transactional, answers of %,d B".formatted(ANSWER_BYTES);
    report.add(label, 0, "WAL (B)", bytes / records);
    report.add(label, 0, "processor time (µs)", micros / records);
    report.add(label, 0, "MB/s", bytes / micros);
  }
}
