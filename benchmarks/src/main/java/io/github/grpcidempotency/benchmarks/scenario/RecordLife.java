package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.load.RecordWriter;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * What a record writes to the log in its life: when it is made, when it is swept, when its place is
 * vacuumed, and when another one takes that place. Each once while its pages were changed since the
 * last checkpoint, as in a test, and once just after a checkpoint, as with a retention that is
 * longer than the time between two: the log then takes a full image of every page that is touched.
 * Half of the table is swept; nothing runs beside it. The numbers are bytes, but for the processor
 * time of sweep and vacuum.
 */
public final class RecordLife implements Scenario {
  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 8;
  private static final Duration OVER_AT_ONCE = Duration.ofMillis(1);

  /** What some work took. */
  private record Cost(double walBytes, Duration processorTime) {}

  @Override
  public String name() {
    return "life of a record";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    for (Variant variant : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      for (int bytes : List.of(100, 1_024, 4_096, 10_240)) {
        measure(database, variant, bytes, pace.measuredRecords(), report);
      }
    }
  }

  private void measure(
      DurableDatabase database, Variant variant, int bytes, int records, Report report) {
    String label = "%s, answers of %,d B".formatted(variant.label(), bytes);
    report.progress("%s: %s", name(), label);
    Jdbi superuser = database.superuser();
    execute(superuser, "TRUNCATE " + TABLE);
    execute(superuser, "TRUNCATE app.project CASCADE");
    execute(
        superuser,
        "ALTER TABLE " + TABLE + " SET (autovacuum_enabled = off, toast.autovacuum_enabled = off)");
    try (var pool = database.newPool(WRITERS);
        ExpirySweeper sweeper = ExpirySweeper.builder(pool).build()) {
      PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
      Runnable shortLived = () -> write(variant, bytes, OVER_AT_ONCE, store, superuser, records);
      report.add(name(), label, 0, "made", walOfRecords(superuser, shortLived, records));
      report.add(name(), label, 0, "its resource", walOfResource(superuser));
      write(variant, bytes, Duration.ofDays(1), store, superuser, records);
      Duration sweeping = Duration.ZERO;
      Duration vacuuming = Duration.ZERO;
      for (boolean images : new boolean[] {false, true}) {
        String after = images ? ", after a checkpoint" : "";
        checkpoint(superuser, images);
        Cost swept = cost(superuser, unused -> sweep(sweeper, records));
        report.add(name(), label, 0, "swept" + after, swept.walBytes() / records);
        checkpoint(superuser, images);
        Cost vacuumed = cost(superuser, handle -> handle.execute("VACUUM " + TABLE));
        report.add(name(), label, 0, "vacuumed" + after, vacuumed.walBytes() / records);
        checkpoint(superuser, images);
        double made = walOfRecords(superuser, shortLived, records);
        report.add(name(), label, 0, "made in its place" + after, made);
        sweeping = sweeping.plus(swept.processorTime());
        vacuuming = vacuuming.plus(vacuumed.processorTime());
      }
      report.add(name(), label, 0, "sweep (µs)", sweeping.toNanos() / 2e3 / records);
      report.add(name(), label, 0, "vacuum (µs)", vacuuming.toNanos() / 2e3 / records);
    }
  }

  private static void checkpoint(Jdbi superuser, boolean wanted) {
    if (wanted) {
      execute(superuser, "CHECKPOINT");
    }
  }

  private static void sweep(ExpirySweeper sweeper, int records) {
    long swept = sweeper.sweep();
    if (swept != records) {
      throw new IllegalStateException("swept " + swept + " of " + records);
    }
  }

  private static void write(
      Variant variant,
      int bytes,
      Duration retention,
      PostgresIdempotencyStore store,
      Jdbi superuser,
      int records) {
    RecordWriter.write(
        new RecordWriter.Settings(
            variant, UuidCreator::getTimeOrderedEpoch, bytes, retention, WRITERS, 0),
        store,
        superuser,
        records);
  }

  /** Without the resources that they refer to, which the writer makes in advance. */
  private static double walOfRecords(Jdbi superuser, Runnable writes, int records) {
    long before = projects(superuser);
    double all = cost(superuser, unused -> writes.run()).walBytes();
    return (all - (projects(superuser) - before) * walOfResource(superuser)) / records;
  }

  /** By rows like those of the writer, beside which nothing else is written. */
  private static double walOfResource(Jdbi superuser) {
    return cost(superuser, unused -> RecordWriter.newProjects(superuser)).walBytes()
        / RecordWriter.PROJECTS_AT_ONCE;
  }

  private static Cost cost(Jdbi superuser, Consumer<Handle> work) {
    ServerCpu cpu = new ServerCpu(superuser);
    return superuser.withHandle(
        handle -> {
          Duration usedBefore = cpu.used();
          long before = position(superuser);
          work.accept(handle);
          double written = position(superuser) - before;
          return new Cost(written, cpu.used().minus(usedBefore));
        });
  }

  private static long position(Jdbi superuser) {
    return one(superuser, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
  }

  private static long projects(Jdbi superuser) {
    return one(superuser, "SELECT count(*) FROM app.project");
  }

  private static long one(Jdbi superuser, String query) {
    return superuser.withHandle(handle -> handle.createQuery(query).mapTo(Long.class).one());
  }

  private static void execute(Jdbi superuser, String sql) {
    superuser.useHandle(handle -> handle.execute(sql));
  }
}
