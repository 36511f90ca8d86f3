package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.LargeTableLoader;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.database.ResourceDeletion;
import io.github.grpcidempotency.benchmarks.load.Projects;
import io.github.grpcidempotency.benchmarks.report.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Jdbi;

/**
 * What grows with the number of partitions, on smaller tables: the planning of statements, as the
 * database chooses between generic and custom plans and as it is told to; what a connection keeps
 * in memory; the deletion of a resource; sweep and vacuum.
 */
public final class NumbersOfPartitions implements Scenario {
  private static final List<Integer> PARTITIONS = List.of(1, 4, 16, 64);
  private static final int CALLERS = 4;
  private static final int PROJECTS = 10_000;
  private static final int SMALLER = 20;

  /** As many as autovacuum waits for by default. */
  private static final int SWEPT = 5;

  private static final int DELETIONS = 200;
  private static final double MEGABYTE = 1e6;

  private static final List<StoreWork> WORK =
      List.of(StoreWork.CREATE_ORDERED, StoreWork.RESERVE_ORDERED, StoreWork.REPLAY_ANY);

  @Override
  public String name() {
    return "numbers of partitions";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    List<KeyTable> tables =
        PARTITIONS.stream().map(number -> new KeyTable("partitions_" + number, number)).toList();
    long live = Math.max(1, pace.largeTable() / SMALLER);
    long swept = Math.max(1, live / SWEPT);
    Jdbi superuser = database.superuser();
    NumberedRecords records =
        new LargeTableLoader(database, swept, live, text -> report.progress("%s: %s", name(), text))
            .load(tables);
    superuser.useHandle(handle -> handle.execute("GRANT pg_read_all_stats TO benchmark_app"));
    MeasuredLines lines = new MeasuredLines();
    for (int round = 0; round <= pace.rounds() / 2 + 1; round++) {
      report.progress("%s: round %d of %d", name(), round, pace.rounds() / 2 + 1);
      for (Plans plans : Plans.values()) {
        compare(plans, tables, records, swept, live, round > 0, database, pace, lines);
      }
    }
    lines.report(name(), CALLERS, report);
    ResourceDeletion.measure(superuser, tables, DELETIONS)
        .forEach(
            (table, micros) ->
                report.add(
                    name() + " deletion", table.label(), 1, "check of a foreign key (µs)", micros));
    new TableUpkeep(name(), database, pace, report).run(tables, 1, swept);
  }

  private static void compare(
      Plans plans,
      List<KeyTable> tables,
      NumberedRecords records,
      long expired,
      long live,
      boolean counts,
      DurableDatabase database,
      Pace pace,
      MeasuredLines lines) {
    List<TableUnderLoad> loaded = new ArrayList<>();
    try {
      for (KeyTable table : tables) {
        loaded.add(TableUnderLoad.with(plans, table, database, CALLERS));
      }
      for (StoreWork work : WORK) {
        Comparer comparer = new Comparer(lines, work.label(), counts);
        for (TableUnderLoad table : loaded) {
          Projects projects = new Projects(database.superuser(), PROJECTS);
          var operation = work.on(table.calls(), projects, records, expired, live);
          TableUnderLoad.Measured unused = table.measure(operation, Duration.ofMillis(200));
          comparer.add(table, table.measure(operation, pace.round().dividedBy(2)));
        }
        comparer.compare();
      }
      if (counts) {
        for (TableUnderLoad table : loaded) {
          lines.add(
              "a connection after them: " + table.label(), "memory (MB)", memory(table) / MEGABYTE);
        }
      }
    } finally {
      loaded.forEach(TableUnderLoad::close);
    }
  }

  private static double memory(TableUnderLoad table) {
    return Jdbi.create(table.pool())
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT sum(total_bytes) FROM pg_backend_memory_contexts")
                    .mapTo(Double.class)
                    .one());
  }
}
