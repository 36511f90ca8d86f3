package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.database.Vacuum;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jdbi.v3.core.Jdbi;

/**
 * Sweeps of expired records, half of them without calls and half while 16 callers create, and a
 * vacuum after each sweep: by one process, by two, and by autovacuum in turn.
 */
final class TableUpkeep {
  /** How many ways there are to vacuum. */
  static final int WAYS = Vacuum.Way.values().length;

  private static final int CALLERS = 16;
  private static final int PROJECTS = 20_000;

  /** As many as the sweeper deletes in one statement. */
  private static final int BATCH = 1_000;

  private static final double MEGABYTE = 1e6;

  private final DurableDatabase database;
  private final Jdbi superuser;
  private final Duration round;
  private final Report.Section report;

  /** The result of the sweep of one table. */
  private record Swept(double alone, double wal, double busy, double calls) {}

  TableUpkeep(DurableDatabase database, Duration round, Report.Section report) {
    this.database = database;
    this.superuser = database.superuser();
    this.round = round;
    this.report = report;
  }

  /** Sweeps this number of records of each table in each round. */
  void run(List<KeyTable> tables, int rounds, long records) {
    database.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'");
    database.execute("SELECT pg_reload_conf()");
    for (int upkeep = 0; upkeep < rounds; upkeep++) {
      Vacuum.Way way = List.of(Vacuum.Way.values()).get(upkeep % WAYS);
      List<KeyTable> inTurn = new ArrayList<>(tables);
      if (upkeep / WAYS % 2 == 1) {
        Collections.reverse(inTurn);
      }
      List<Swept> swept = new ArrayList<>();
      List<Vacuum> vacuumed = new ArrayList<>();
      for (KeyTable table : inTurn) {
        report.progress("sweep of %s, round %d of %d", table.label(), upkeep + 1, rounds);
        swept.add(sweep(table, records));
        database.execute("CHECKPOINT");
        report.progress("vacuum of %s, by %s", table.label(), way.label());
        vacuumed.add(Vacuum.of(table, way, database));
      }
      int plain = inTurn.indexOf(tables.get(0));
      for (KeyTable table : tables) {
        int place = inTurn.indexOf(table);
        addSweep(table.label(), swept.get(place), swept.get(plain));
        addVacuum(way.label() + ": " + table.label(), vacuumed.get(place), vacuumed.get(plain));
      }
    }
  }

  private void addSweep(String label, Swept own, Swept plain) {
    Report.Section sweeps = report.part("sweep");
    sweeps.add(label, CALLERS, "records swept/s, no calls", own.alone());
    sweeps.add(label, CALLERS, "times one table", own.alone() / plain.alone());
    sweeps.add(label, CALLERS, "WAL per record (B)", own.wal());
    sweeps.add(label, CALLERS, "records swept/s beside calls", own.busy());
    sweeps.add(label, CALLERS, "calls, times those without a sweep", own.calls());
  }

  private void addVacuum(String label, Vacuum own, Vacuum plain) {
    Report.Section vacuums = report.part("vacuum");
    vacuums.add(label, 0, "seconds", own.seconds());
    vacuums.add(label, 0, "times one table", own.seconds() / plain.seconds());
    vacuums.add(label, 0, "longest of its vacuums (s)", own.longest());
    vacuums.add(label, 0, "longest, times one table", own.longest() / plain.longest());
    vacuums.add(label, 0, "WAL (MB)", own.wal() / MEGABYTE);
    vacuums.add(label, 0, "passes over indexes", own.passes());
  }

  private Swept sweep(KeyTable table, long records) {
    try (HikariDataSource sweeper = database.newPool(1);
        StoreCalls calls = new StoreCalls(database, table.schema(), "", CALLERS)) {
      long alone = records / 2;
      long start = System.nanoTime();
      Usage used = Usage.of(sweeper, 1, superuser, () -> sweep(table, sweeper, alone));
      double seconds = (System.nanoTime() - start) / 1e9;
      Operation creates =
          calls.creates(
              Variant.TRANSACTIONAL,
              LargeTables.newKeys(UuidCreator::getTimeOrderedEpoch),
              Projects.inTurn(superuser, PROJECTS),
              LargeTables.ANSWER_BYTES,
              LargeTables.RETENTION);
      try (ClosedLoop loop = ClosedLoop.start(creates, CALLERS)) {
        Load unused = loop.observe(round.dividedBy(2));
        Load undisturbed = loop.observe(round);
        loop.restart();
        start = System.nanoTime();
        sweep(table, sweeper, records - alone);
        double busySeconds = (System.nanoTime() - start) / 1e9;
        Load disturbed = loop.seenSinceRestart();
        return new Swept(
            alone / seconds,
            (double) used.walBytes() / alone,
            (records - alone) / busySeconds,
            disturbed.perSecond() / undisturbed.perSecond());
      }
    }
  }

  /** Does the same as the sweeper, for a limited number of records. */
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
                      "%s has no expired records left: load it again".formatted(table.label()));
                }
              }
            });
  }
}
