package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.NumberedRecords;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.database.Vacuum;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.Projects;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jdbi.v3.core.Jdbi;

/**
 * Sweeps of expired records, half of them while nobody calls and half while 16 callers create, and
 * a vacuum after each sweep, in turn by one process, by two, and by autovacuum.
 */
final class TableUpkeep {
  /** How many ways there are to vacuum. */
  static final int WAYS = Way.values().length;

  private static final int CALLERS = 16;
  private static final int PROJECTS = 20_000;

  /** As many as the sweeper deletes in one statement. */
  private static final int BATCH = 1_000;

  private static final double MEGABYTE = 1e6;

  private final String name;
  private final DurableDatabase database;
  private final Jdbi superuser;
  private final Pace pace;
  private final Report report;
  private final MeasuredLines sweeps = new MeasuredLines();
  private final MeasuredLines vacuums = new MeasuredLines();

  private enum Way {
    ONE("one process"),
    TWO("two processes"),
    AUTOVACUUM("autovacuum");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    Vacuum vacuum(Jdbi superuser, KeyTable table) {
      return switch (this) {
        case ONE -> Vacuum.byOneProcess(superuser, table);
        case TWO -> Vacuum.byTwoProcesses(superuser, table);
        case AUTOVACUUM -> Vacuum.byAutovacuum(superuser, table);
      };
    }
  }

  /** What a sweep of one table came to. */
  private record Swept(double alone, double wal, double busy, double calls, double p99) {}

  TableUpkeep(String name, DurableDatabase database, Pace pace, Report report) {
    this.name = name;
    this.database = database;
    this.superuser = database.superuser();
    this.pace = pace;
    this.report = report;
  }

  /** Sweeps so many records of each table in each round. */
  void run(List<KeyTable> tables, int rounds, long records) {
    superuser.useHandle(
        handle -> {
          handle.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'");
          handle.execute("SELECT pg_reload_conf()");
        });
    for (int round = 0; round < rounds; round++) {
      Way way = Way.values()[round % WAYS];
      List<KeyTable> inTurn = new ArrayList<>(tables);
      if (round / WAYS % 2 == 1) {
        Collections.reverse(inTurn);
      }
      List<Swept> swept = new ArrayList<>();
      List<Vacuum> vacuumed = new ArrayList<>();
      for (KeyTable table : inTurn) {
        report.progress("%s: sweep of %s, round %d of %d", name, table.label(), round + 1, rounds);
        swept.add(sweep(table, records));
        superuser.useHandle(handle -> handle.execute("CHECKPOINT"));
        report.progress("%s: vacuum of %s, by %s", name, table.label(), way.label);
        vacuumed.add(way.vacuum(superuser, table));
      }
      int plain = inTurn.indexOf(tables.get(0));
      for (KeyTable table : tables) {
        int place = inTurn.indexOf(table);
        addSweep(table, swept.get(place), swept.get(plain));
        addVacuum(way, table, vacuumed.get(place), vacuumed.get(plain));
      }
    }
    sweeps.report(name + " sweep", CALLERS, report);
    vacuums.report(name + " vacuum", 0, report);
  }

  private void addSweep(KeyTable table, Swept own, Swept plain) {
    String label = table.label();
    sweeps.add(label, "records swept/s, no calls", own.alone());
    sweeps.add(label, "times one table", own.alone() / plain.alone());
    sweeps.add(label, "WAL per record (B)", own.wal());
    sweeps.add(label, "records swept/s beside calls", own.busy());
    sweeps.add(label, "calls, times those without a sweep", own.calls());
    sweeps.add(label, "their p99, times that without a sweep", own.p99());
  }

  private void addVacuum(Way way, KeyTable table, Vacuum own, Vacuum plain) {
    String label = "%s: %s".formatted(way.label, table.label());
    vacuums.add(label, "seconds", own.seconds());
    vacuums.add(label, "times one table", own.seconds() / plain.seconds());
    if (own.longest() > 0) {
      vacuums.add(label, "longest of its vacuums (s)", own.longest());
      vacuums.add(label, "longest, times one table", own.longest() / plain.longest());
    }
    vacuums.add(label, "WAL (MB)", own.wal() / MEGABYTE);
    if (own.pages() > 0) {
      vacuums.add(label, "passes over indexes", own.passes());
      vacuums.add(label, "pages looked at (thousands)", own.pages() / 1e3);
      vacuums.add(label, "pages changed (thousands)", own.dirtied() / 1e3);
    }
  }

  private Swept sweep(KeyTable table, long records) {
    try (HikariDataSource sweeper = database.newPool(1);
        TableUnderLoad load = TableUnderLoad.of(table, database, CALLERS)) {
      long alone = records / 2;
      long start = System.nanoTime();
      Usage used = Usage.of(sweeper, 1, superuser, () -> sweep(table, sweeper, alone));
      double seconds = (System.nanoTime() - start) / 1e9;
      Operation creates =
          load.calls()
              .creates(
                  Variant.TRANSACTIONAL,
                  () ->
                      new IdempotencyKey(
                          NumberedRecords.caller(ThreadLocalRandom.current()),
                          UuidCreator.getTimeOrderedEpoch().toString()),
                  new Projects(superuser, PROJECTS));
      try (ClosedLoop loop = ClosedLoop.start(creates, CALLERS)) {
        Load unused = loop.observe(pace.round().dividedBy(2));
        Load undisturbed = loop.observe(pace.round());
        loop.restart();
        start = System.nanoTime();
        sweep(table, sweeper, records - alone);
        double busySeconds = (System.nanoTime() - start) / 1e9;
        Load disturbed = loop.seenSinceRestart();
        return new Swept(
            alone / seconds,
            (double) used.walBytes() / alone,
            (records - alone) / busySeconds,
            disturbed.perSecond() / undisturbed.perSecond(),
            disturbed.millis().p99() / undisturbed.millis().p99());
      }
    }
  }

  /** Does what the sweeper does, but for so many records only. */
  private static void sweep(KeyTable table, HikariDataSource sweeper, long records) {
    Jdbi.create(sweeper)
        .useHandle(
            handle -> {
              for (long left = records; left > 0; left -= BATCH) {
                int swept =
                    handle
                        .createQuery("SELECT %s.sweep_expired(:batch)".formatted(table.schema()))
                        .bind("batch", (int) Math.min(left, BATCH))
                        .mapTo(Integer.class)
                        .one();
                if (swept < Math.min(left, BATCH)) {
                  throw new IllegalStateException(
                      "%s has no expired records left: load it anew".formatted(table.label()));
                }
              }
            });
  }
}
