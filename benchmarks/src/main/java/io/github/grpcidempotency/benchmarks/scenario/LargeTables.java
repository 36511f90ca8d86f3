package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.LargeTableLoader;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Projects;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jdbi.v3.core.Jdbi;

/**
 * One plain table of many live records beside one in hash partitions: what the store's calls cost,
 * then sweeps, and the vacuums after them.
 */
public final class LargeTables implements Scenario {
  private static final int CALLERS = 16;
  private static final int PROJECTS = 10_000;

  /** Of the records, one in so many is swept in a round of upkeep. */
  private static final int SWEPT = 25;

  /** Rounds of calls for a round of each way to vacuum. */
  private static final int ROUNDS_PER_VACUUM = 4;

  private static final double MEGABYTE = 1e6;

  @Override
  public String name() {
    return "large tables";
  }

  @Override
  public boolean canBeKept() {
    return true;
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    List<KeyTable> tables =
        List.of(new KeyTable("one_table", 1), new KeyTable("partitions", pace.partitions()));
    long swept = Math.max(1, pace.largeTable() / SWEPT);
    int upkeeps = TableUpkeep.WAYS * Math.max(1, (pace.rounds() + 1) / ROUNDS_PER_VACUUM);
    long expired = swept * upkeeps;
    NumberedRecords records =
        new LargeTableLoader(
                database,
                expired,
                pace.largeTable(),
                text -> report.progress("%s: %s", name(), text))
            .load(tables);
    if (pace.loadOnly()) {
      return;
    }
    reportSizes(tables, expired + pace.largeTable(), database.superuser(), report);
    compareCalls(tables, records, expired, database, pace, report);
    new TableUpkeep(name(), database, pace, report).run(tables, upkeeps, swept);
  }

  private void reportSizes(List<KeyTable> tables, long rows, Jdbi superuser, Report report) {
    for (KeyTable table : tables) {
      String label = "%s, %,d records".formatted(table.label(), rows);
      String scenario = name() + " size";
      report.add(scenario, label, 0, "table (MB)", table.heapBytes(superuser) / MEGABYTE);
      table
          .indexBytes(superuser)
          .forEach(
              (index, bytes) ->
                  report.add(
                      scenario,
                      label,
                      0,
                      index.replace("idempotency_keys_", "") + " (MB)",
                      bytes / MEGABYTE));
    }
  }

  private void compareCalls(
      List<KeyTable> tables,
      NumberedRecords records,
      long expired,
      DurableDatabase database,
      Pace pace,
      Report report) {
    MeasuredLines lines = new MeasuredLines();
    List<TableUnderLoad> loaded = new ArrayList<>();
    try {
      for (KeyTable table : tables) {
        loaded.add(TableUnderLoad.of(table, database, CALLERS));
      }
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("%s: round %d of %d", name(), round, pace.rounds());
        Collections.reverse(loaded);
        for (StoreWork work : StoreWork.values()) {
          Comparer comparer = new Comparer(lines, work.label(), round > 0);
          for (TableUnderLoad table : loaded) {
            Projects projects = new Projects(database.superuser(), PROJECTS);
            Operation operation =
                work.on(table.calls(), projects, records, expired, pace.largeTable());
            comparer.add(table, table.measure(operation, timeOf(round, pace)));
          }
          comparer.compare();
        }
      }
    } finally {
      loaded.forEach(TableUnderLoad::close);
    }
    lines.report(name(), CALLERS, report);
  }

  /** The first round only warms up. */
  private static Duration timeOf(int round, Pace pace) {
    return round == 0 ? pace.round().dividedBy(2) : pace.round();
  }
}
