package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;

/** The size of a record: bytes of the table and of the log. */
public final class Records {

  /** The sizes of answers that a record is measured with. */
  static final List<Integer> ANSWERS = List.of(100, 1_024, 4_096, 10_240);

  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 8;

  /** The indexes in which a record has an entry: indexes that always exist, and optional ones. */
  private static final List<String> INDEXES =
      List.of("pkey", "key", "expires", "project_id_idx", "operations", "in_flight");

  private static final int MEASURED_PROJECTS = 500;
  private static final Duration OVER_AT_ONCE = Duration.ofMillis(1);

  /** The cost of some work. */
  private record Cost(double walBytes, Duration processorTime) {}

  private Records() {}

  /** Measures how many bytes a record takes, in the table and in each index. */
  public static void size(DurableDatabase database, Pace pace, Report.Section report) {
    database.execute("SELECT idempotency.add_in_flight_index()");
    database.execute("SELECT idempotency.add_operation_index()");
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : ANSWERS) {
        measureSize(database, pace, report, variant, bytes, "", UuidCreator::getTimeOrderedEpoch);
      }
    }
    measureSize(
        database, pace, report, Variant.TRANSACTIONAL, 100, ", UUIDv4 keys", UUID::randomUUID);
  }

  private static void measureSize(
      DurableDatabase database,
      Pace pace,
      Report.Section report,
      Variant variant,
      int bytes,
      String suffix,
      Supplier<UUID> keys) {
    String label = "%s, answers of %,d B%s".formatted(variant.label(), bytes, suffix);
    report.progress(label);
    // Dead rows must stay until they have been counted.
    database.execute("TRUNCATE " + TABLE);
    database.execute("ALTER TABLE " + TABLE + " SET (autovacuum_enabled = off)");
    try (StoreCalls calls = new StoreCalls(database, WRITERS)) {
      calls.writes(variant, keys, bytes, Duration.ofDays(1), pace.measuredRecords()).run();
    }
    double records = database.number("SELECT count(*) FROM " + TABLE);
    double written = heap(database) / records;
    for (String index : INDEXES) {
      double size = database.number("SELECT pg_relation_size('%s_%s')".formatted(TABLE, index));
      report.add(label, 0, index, size / records);
    }
    report.add(label, 0, "heap and TOAST, as written", written);
    database.execute("VACUUM FULL " + TABLE);
    report.add(label, 0, "heap and TOAST, packed", heap(database) / records);
  }

  private static double heap(DurableDatabase database) {
    return database.number("SELECT pg_table_size('%s')".formatted(TABLE));
  }

  /**
   * Measures how much log a record writes during its life: when it is created, when it is swept,
   * when its space is vacuumed, and when another record takes that space. Each is measured twice:
   * while its pages were changed since the last checkpoint, as in a test, and just after a
   * checkpoint, as with a retention that is longer than the time between two checkpoints, when the
   * log contains a full image of every changed page. Half of the table is swept; nothing else runs.
   * The results are bytes, except for the processor time of sweep and vacuum.
   */
  public static void life(DurableDatabase database, Pace pace, Report.Section report) {
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : ANSWERS) {
        measureLife(database, variant, bytes, pace.measuredRecords(), report);
      }
    }
  }

  private static void measureLife(
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

  /** Creates records, without the resources that they refer to. */
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
