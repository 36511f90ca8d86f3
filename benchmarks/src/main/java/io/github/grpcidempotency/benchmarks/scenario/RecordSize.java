package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.RecordWriter;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.jdbi.v3.core.Jdbi;

/** How many bytes a record takes, in the table and in each index. */
public final class RecordSize implements Scenario {
  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 8;

  /** The indexes that every record has an entry in, or that are asked for; and their columns. */
  private static final List<String> INDEXES =
      List.of("pkey", "key", "expires", "project_id_idx", "operations", "in_flight");

  @Override
  public String name() {
    return "record size";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    database
        .superuser()
        .useHandle(
            handle -> {
              handle.execute("SELECT idempotency.add_in_flight_index()");
              handle.execute("SELECT idempotency.add_operation_index()");
            });
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : List.of(100, 1_024, 4_096, 10_240)) {
        measure(database, pace, report, variant, bytes, "", UuidCreator::getTimeOrderedEpoch);
      }
    }
    measure(database, pace, report, Variant.TRANSACTIONAL, 100, ", UUIDv4 keys", UUID::randomUUID);
  }

  private void measure(
      DurableDatabase database,
      Pace pace,
      Report report,
      Variant variant,
      int bytes,
      String suffix,
      Supplier<UUID> keys) {
    String label = "%s, answers of %,d B%s".formatted(variant.label(), bytes, suffix);
    report.progress("%s: %s", name(), label);
    Jdbi superuser = database.superuser();
    // What is dead stays where it is until it has been counted.
    superuser.useHandle(
        handle -> {
          handle.execute("TRUNCATE " + TABLE);
          handle.execute("ALTER TABLE " + TABLE + " SET (autovacuum_enabled = off)");
        });
    RecordWriter.Settings settings =
        new RecordWriter.Settings(variant, keys, bytes, Duration.ofDays(1), WRITERS, 0);
    try (var pool = database.newPool(WRITERS)) {
      RecordWriter.write(
          settings,
          PostgresIdempotencyStore.builder(pool).build(),
          superuser,
          pace.measuredRecords());
    }
    double records = one(superuser, "SELECT count(*) FROM " + TABLE);
    double written = heap(superuser) / records;
    for (String index : INDEXES) {
      double size = one(superuser, "SELECT pg_relation_size('%s_%s')".formatted(TABLE, index));
      report.add(name(), label, 0, index, size / records);
    }
    report.add(name(), label, 0, "heap and TOAST, as written", written);
    superuser.useHandle(handle -> handle.execute("VACUUM FULL " + TABLE));
    report.add(name(), label, 0, "heap and TOAST, packed", heap(superuser) / records);
  }

  private static double heap(Jdbi superuser) {
    return one(superuser, "SELECT pg_table_size('%s')".formatted(TABLE));
  }

  private static double one(Jdbi superuser, String query) {
    return superuser.withHandle(handle -> handle.createQuery(query).mapTo(Double.class).one());
  }
}
