package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** How many bytes a record takes, in the table and in each index. */
public final class RecordSize {
  /** The sizes of answers that a record is measured with. */
  static final List<Integer> ANSWERS = List.of(100, 1_024, 4_096, 10_240);

  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 8;

  /** The indexes that every record has an entry in, or that are asked for. */
  private static final List<String> INDEXES =
      List.of("pkey", "key", "expires", "project_id_idx", "operations", "in_flight");

  private RecordSize() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    database.execute("SELECT idempotency.add_in_flight_index()");
    database.execute("SELECT idempotency.add_operation_index()");
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : ANSWERS) {
        measure(database, pace, report, variant, bytes, "", UuidCreator::getTimeOrderedEpoch);
      }
    }
    measure(database, pace, report, Variant.TRANSACTIONAL, 100, ", UUIDv4 keys", UUID::randomUUID);
  }

  private static void measure(
      DurableDatabase database,
      Pace pace,
      Report.Section report,
      Variant variant,
      int bytes,
      String suffix,
      Supplier<UUID> keys) {
    String label = "%s, answers of %,d B%s".formatted(variant.label(), bytes, suffix);
    report.progress(label);
    // What is dead stays where it is until it has been counted.
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
}
