package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.StoreCalls;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import java.util.Set;
import java.util.UUID;

/** Claims alone, on tables full of live keys and on an empty one, each in a schema of its own. */
public final class LiveKeys implements Scenario {
  private static final int CLAIMERS = 16;

  @Override
  public String name() {
    return "live keys";
  }

  @Override
  public Set<String> options() {
    return Set.of("--seconds", "--rounds", "--keys");
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report.Section report) {
    KeyTable ordered = full("ordered_keys", true, database, pace, report);
    KeyTable random = full("random_keys", false, database, pace, report);
    KeyTable plain = new KeyTable(IdempotencySchema.DEFAULT_NAME, 1);
    try (TableUnderLoad empty = new TableUnderLoad("empty table", plain, "", database, CLAIMERS);
        TableUnderLoad v7 = new TableUnderLoad("UUIDv7 keys", ordered, "", database, CLAIMERS);
        TableUnderLoad v4 = new TableUnderLoad("UUIDv4 keys", random, "", database, CLAIMERS)) {
      Operation onEmpty = empty.calls().claims(StoreCalls.keys(UuidCreator::getTimeOrderedEpoch));
      Operation onV7 = v7.calls().claims(StoreCalls.keys(UuidCreator::getTimeOrderedEpoch));
      Operation onV4 = v4.calls().claims(StoreCalls.keys(UUID::randomUUID));
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("round %d of %d", round, pace.rounds());
        database.execute("TRUNCATE " + plain.table());
        TableUnderLoad.Measured least = empty.measure(onEmpty, pace.round());
        TableUnderLoad.Measured withV7 = v7.measure(onV7, pace.round());
        TableUnderLoad.Measured withV4 = v4.measure(onV4, pace.round());
        if (round > 0) {
          add(report, empty, least, least);
          add(report, v7, withV7, least);
          add(report, v4, withV4, least);
        }
      }
    }
  }

  private static KeyTable full(
      String schema, boolean ordered, DurableDatabase database, Pace pace, Report.Section report) {
    report.progress("loading %,d keys into %s", pace.liveKeys(), schema);
    database.migrate(schema);
    KeyLoader.live(pace.liveKeys(), ordered).load(database.superuser(), schema);
    return new KeyTable(schema, 1);
  }

  private static void add(
      Report.Section report,
      TableUnderLoad table,
      TableUnderLoad.Measured own,
      TableUnderLoad.Measured onEmpty) {
    double rate = own.load().perSecond();
    report.add(table.label(), CLAIMERS, "claims ratio", rate / onEmpty.load().perSecond());
    report.add(table.label(), CLAIMERS, "claims/s", rate);
    report.add(table.label(), CLAIMERS, "WAL per claim (B)", own.walBytes());
  }
}
