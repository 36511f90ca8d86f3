package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.LargeTableLoader;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.util.List;

/**
 * A plain table, and the same in partitions.
 *
 * @param live how many records of each are live
 * @param swept how many records a round of upkeep deletes
 * @param upkeeps how many rounds of upkeep there are
 */
record LargeTablePair(List<KeyTable> tables, long live, long swept, int upkeeps) {
  /** Of the records, one in so many is swept in a round of upkeep. */
  private static final int SWEPT = 25;

  /** Rounds of calls for a round of each way to vacuum. */
  private static final int ROUNDS_PER_VACUUM = 4;

  static LargeTablePair of(Pace pace) {
    return new LargeTablePair(
        List.of(new KeyTable("one_table", 1), new KeyTable("partitions", pace.partitions())),
        pace.largeTable(),
        Math.max(1, pace.largeTable() / SWEPT),
        TableUpkeep.WAYS * Math.max(1, (pace.rounds() + 1) / ROUNDS_PER_VACUUM));
  }

  /** Returns how many records of each table have expired, before all others. */
  long expired() {
    return swept * upkeeps;
  }

  /** Fills the tables, unless an earlier run has done so. Blocks. */
  NumberedRecords load(DurableDatabase database, Report report, String scenario) {
    return new LargeTableLoader(
            database, expired(), live, text -> report.progress("%s: %s", scenario, text))
        .load(tables);
  }
}
