package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.Crash;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.RecordWriter;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;

/**
 * The processor time for replaying the log of records, which a replica does in a single process.
 * The pages are in memory, and full-page images are not among it.
 */
public final class LogReplay implements Scenario {
  private static final int WRITERS = 8;
  private static final int ANSWER_BYTES = 1_024;

  /** The server counts in hundredths of a second. */
  private static final int TIMES_MEASURED_RECORDS = 6;

  @Override
  public String name() {
    return "replay of the log";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    Jdbi superuser = database.superuser();
    int records = pace.measuredRecords() * TIMES_MEASURED_RECORDS;
    report.progress("%s: writing %,d records", name(), records);
    superuser.useHandle(handle -> handle.execute("CHECKPOINT"));
    long before = position(superuser);
    try (var pool = database.newPool(WRITERS)) {
      RecordWriter.write(
          new RecordWriter.Settings(
              Variant.TRANSACTIONAL,
              UuidCreator::getTimeOrderedEpoch,
              ANSWER_BYTES,
              Duration.ofDays(1),
              WRITERS,
              0),
          PostgresIdempotencyStore.builder(pool).build(),
          superuser,
          records);
    }
    double bytes = position(superuser) - before;
    double micros = Crash.replay(superuser).toNanos() / 1e3;
    String label = "transactional, answers of %,d B".formatted(ANSWER_BYTES);
    report.add(name(), label, 0, "WAL (B)", bytes / records);
    report.add(name(), label, 0, "processor time (µs)", micros / records);
    report.add(name(), label, 0, "MB/s", bytes / micros);
  }

  private static long position(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
                .mapTo(Long.class)
                .one());
  }
}
