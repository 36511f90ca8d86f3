package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.UUID;
import java.util.function.Supplier;

/** Claims only, on tables full of live keys and on an empty one, each in a schema of its own. */
public final class LiveKeys {
  private static final int CLAIMERS = 16;
  private static final String ORDERED = "ordered_keys";
  private static final String RANDOM = "random_keys";

  private LiveKeys() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    load(ORDERED, true, database, pace, report);
    load(RANDOM, false, database, pace, report);
    try (StoreCalls empty = new StoreCalls(database, CLAIMERS);
        StoreCalls v7 = new StoreCalls(database, ORDERED, CLAIMERS);
        StoreCalls v4 = new StoreCalls(database, RANDOM, CLAIMERS)) {
      Supplier<IdempotencyKey> keys = StoreCalls.keys(UuidCreator::getTimeOrderedEpoch);
      Supplier<IdempotencyKey> randomKeys = StoreCalls.keys(UUID::randomUUID);
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("round %d of %d", round, pace.rounds());
        database.execute("TRUNCATE idempotency.idempotency_keys");
        StoreCalls.Measured least = empty.measure(empty.claims(keys), pace.round());
        StoreCalls.Measured onV7 = v7.measure(v7.claims(keys), pace.round());
        StoreCalls.Measured onV4 = v4.measure(v4.claims(randomKeys), pace.round());
        if (round > 0) {
          add(report, "empty table", least, least);
          add(report, "UUIDv7 keys", onV7, least);
          add(report, "UUIDv4 keys", onV4, least);
        }
      }
    }
  }

  private static void load(
      String schema, boolean ordered, DurableDatabase database, Pace pace, Report.Section report) {
    report.progress("loading %,d keys into %s", pace.rows(), schema);
    database.migrate(schema);
    KeyLoader.live(pace.rows(), ordered).load(database.superuser(), schema);
  }

  private static void add(
      Report.Section report, String label, StoreCalls.Measured own, StoreCalls.Measured onEmpty) {
    double rate = own.load().perSecond();
    report.add(label, CLAIMERS, "claims ratio", rate / onEmpty.load().perSecond());
    report.add(label, CLAIMERS, "claims/s", rate);
    report.add(label, CLAIMERS, "WAL per claim (B)", own.walBytes());
  }
}
