package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;

/**
 * What a record writes to the log in its life: when it is made, when it is swept, when its place is
 * vacuumed, and when another one takes that place. Each once while its pages were changed since the
 * last checkpoint, as in a test, and once just after a checkpoint, as with a retention that is
 * longer than the time between two: the log then takes a full image of every page that is touched.
 * Half of the table is swept; nothing runs beside it. The numbers are bytes, but for the processor
 * time of sweep and vacuum.
 */
public final class RecordLife {
  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 8;
  private static final int MEASURED_PROJECTS = 500;
  private static final Duration OVER_AT_ONCE = Duration.ofMillis(1);

  /** What some work took. */
  private record Cost(double walBytes, Duration processorTime) {}

  private RecordLife() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : RecordSize.ANSWERS) {
        measure(database, variant, bytes, pace.measuredRecords(), report);
      }
    }
  }

  private static void measure(
      DurableDatabase database, Variant variant, int bytes, int records, Report.Section report) {
    String label = "%s, answers of %,d B".formatted(variant.label(), bytes);
    report.progress(label);
    database.execute("TRUNCATE " + TABLE);
    database.execute("TRUNCATE app.project CASCADE");
    database.execute(
        "ALTER TABLE " + TABLE + " SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)");
    try (StoreCalls calls = new StoreCalls(database, WRITERS);
        ExpirySweeper sweeper = ExpirySweeper.builder(calls.pool()).build()) {
      report.add(label, 0, "made", made(database, calls, variant, bytes, OVER_AT_ONCE, records));
      report.add(
          label,
          0,
          "its resource",
          cost(database, handle -> Projects.make(database.superuser(), MEASURED_PROJECTS))
                  .walBytes()
              / MEASURED_PROJECTS);
      double unused = made(database, calls, variant, bytes, Duration.ofDays(1), records);
      for (boolean images : new boolean[] {false, true}) {
        String after = images ? ", after a checkpoint" : "";
        checkpoint(database, images);
        Cost swept = cost(database, handle -> sweep(sweeper, records));
        report.add(label, 0, "swept" + after, swept.walBytes() / records);
        report.add(label, 0, "sweep (µs)", swept.processorTime().toNanos() / 1e3 / records);
        checkpoint(database, images);
        Cost vacuumed = cost(database, handle -> handle.execute("VACUUM " + TABLE));
        report.add(label, 0, "vacuumed" + after, vacuumed.walBytes() / records);
        report.add(label, 0, "vacuum (µs)", vacuumed.processorTime().toNanos() / 1e3 / records);
        checkpoint(database, images);
        report.add(
            label,
            0,
            "made in its place" + after,
            made(database, calls, variant, bytes, OVER_AT_ONCE, records));
      }
    }
  }

  private static void checkpoint(DurableDatabase database, boolean wanted) {
    if (wanted) {
      database.execute("CHECKPOINT");
    }
  }

  private static void sweep(ExpirySweeper sweeper, int records) {
    long swept = sweeper.sweep();
    if (swept != records) {
      throw new IllegalStateException("swept " + swept + " of " + records);
    }
  }

  /** Makes records, without the resources that they refer to. */
  private static double made(
      DurableDatabase database,
      StoreCalls calls,
      Variant variant,
      int bytes,
      Duration retention,
      int records) {
    Runnable writes =
        calls.writes(variant, UuidCreator::getTimeOrderedEpoch, bytes, retention, records);
    return cost(database, handle -> writes.run()).walBytes() / records;
  }

  /** The handle's backend lives until its processor time is read. */
  private static Cost cost(DurableDatabase database, Consumer<Handle> work) {
    ServerCpu cpu = new ServerCpu(database.superuser());
    return database
        .superuser()
        .withHandle(
            handle -> {
              Duration usedBefore = cpu.used();
              double before = database.logPosition();
              work.accept(handle);
              double written = database.logPosition() - before;
              return new Cost(written, cpu.used().minus(usedBefore));
            });
  }
}
