package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.report.Report;

/**
 * One plain table of many live records beside one in hash partitions: sweeps, and the vacuums after
 * them. It uses up the expired records of a database that was kept.
 */
public final class UpkeepOfLargeTables implements Scenario {
  @Override
  public String name() {
    return "upkeep of large tables";
  }

  @Override
  public boolean canBeKept() {
    return true;
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    LargeTablePair pair = LargeTablePair.of(pace);
    NumberedRecords unused = pair.load(database, report, name());
    if (!pace.loadOnly()) {
      new TableUpkeep("large tables", database, pace, report)
          .run(pair.tables(), pair.upkeeps(), pair.swept());
    }
  }
}
