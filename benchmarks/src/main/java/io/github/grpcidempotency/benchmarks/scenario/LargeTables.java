package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
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
 * One plain table of many live records beside one in hash partitions: their sizes, and what the
 * store's calls cost.
 */
public final class LargeTables implements Scenario {
  private static final int CALLERS = 16;
  private static final int PROJECTS = 10_000;
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
    LargeTablePair pair = LargeTablePair.of(pace);
    NumberedRecords records = pair.load(database, report, name());
    if (pace.loadOnly()) {
      return;
    }
    reportSizes(pair, database.superuser(), report);
    compareCalls(pair, records, database, pace, report);
  }

  private void reportSizes(LargeTablePair pair, Jdbi superuser, Report report) {
    for (KeyTable table : pair.tables()) {
      String label = "%s, %,d records".formatted(table.label(), pair.expired() + pair.live());
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
      LargeTablePair pair,
      NumberedRecords records,
      DurableDatabase database,
      Pace pace,
      Report report) {
    MeasuredLines lines = new MeasuredLines();
    List<TableUnderLoad> loaded = new ArrayList<>();
    try {
      for (KeyTable table : pair.tables()) {
        loaded.add(TableUnderLoad.of(table, database, CALLERS));
        if (table.partitions() > 1) {
          loaded.add(TableUnderLoad.with(Plans.GENERIC, table, database, CALLERS));
        }
      }
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("%s: round %d of %d", name(), round, pace.rounds());
        Collections.reverse(loaded);
        for (StoreWork work : StoreWork.values()) {
          Comparer comparer = new Comparer(lines, work.label(), round > 0);
          for (TableUnderLoad table : loaded) {
            Projects projects = new Projects(database.superuser(), PROJECTS);
            Operation operation =
                work.on(table.calls(), projects, records, pair.expired(), pair.live());
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
