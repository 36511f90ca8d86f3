package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.load.RecordWriter;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * A table as it is once as many records expire as are made: how much of it is dead, and what
 * autovacuum has to do. A retention of seconds stands for one of a day, so autovacuum looks once a
 * second here.
 */
public final class SteadyState implements Scenario {
  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 16;
  private static final int ANSWER_BYTES = 1_024;
  private static final double MEGABYTE = 1e6;

  /** Settings of the table. */
  private enum Autovacuum {
    DEFAULTS(
        "defaults",
        "RESET (autovacuum_enabled, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_limit)"),
    FREQUENT(
        "scale factor 0.05, cost limit 2000",
        "SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000)"),
    OFF("off", "SET (autovacuum_enabled = off)");

    private final String label;
    private final String change;

    Autovacuum(String label, String change) {
      this.label = label;
      this.change = change;
    }
  }

  /** One line of the table. */
  private record Subject(Variant variant, double perSecond, Autovacuum autovacuum) {
    String label() {
      String rate = perSecond == 0 ? "as many as possible" : "%.0f/s".formatted(perSecond);
      return "%s, %s, autovacuum: %s".formatted(variant.label(), rate, autovacuum.label);
    }
  }

  private static final List<Subject> SUBJECTS =
      List.of(
          new Subject(Variant.RESERVED_SAME_DATABASE, 1, Autovacuum.DEFAULTS),
          new Subject(Variant.RESERVED_SAME_DATABASE, 100, Autovacuum.DEFAULTS),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.DEFAULTS),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.FREQUENT),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.OFF),
          new Subject(Variant.TRANSACTIONAL, 0, Autovacuum.DEFAULTS),
          new Subject(Variant.TRANSACTIONAL, 0, Autovacuum.FREQUENT));

  /** The database's counters of the table, since the server started. */
  private record Counters(
      double deleted,
      double updated,
      double updatedHot,
      double vacuums,
      double vacuumMillis,
      double wal) {
    private static final String QUERY =
        """
        SELECT n_tup_del, n_tup_upd, n_tup_hot_upd, autovacuum_count,
               coalesce((to_jsonb(s) ->> 'total_autovacuum_time')::float8, 0) AS vacuum_millis,
               pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal
          FROM pg_stat_user_tables AS s
         WHERE relid = 'idempotency.idempotency_keys'::regclass
        """;

    static Counters read(Jdbi superuser) {
      return superuser.withHandle(
          handle ->
              handle
                  .createQuery(QUERY)
                  .map(
                      (row, context) ->
                          new Counters(
                              row.getDouble("n_tup_del"),
                              row.getDouble("n_tup_upd"),
                              row.getDouble("n_tup_hot_upd"),
                              row.getDouble("autovacuum_count"),
                              row.getDouble("vacuum_millis"),
                              row.getDouble("wal")))
                  .one());
    }
  }

  @Override
  public String name() {
    return "steady state";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    database
        .superuser()
        .useHandle(
            handle -> {
              handle.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'");
              handle.execute("SELECT pg_reload_conf()");
            });
    for (Subject subject : SUBJECTS) {
      report.progress("%s: %s", name(), subject.label());
      try {
        measure(subject, database, pace, report);
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** The first two retentions make the state, the next two are measured. */
  private void measure(Subject subject, DurableDatabase database, Pace pace, Report report)
      throws InterruptedException {
    Jdbi superuser = database.superuser();
    prepare(superuser, subject.autovacuum());
    RecordWriter.Settings settings =
        new RecordWriter.Settings(
            subject.variant(),
            UuidCreator::getTimeOrderedEpoch,
            ANSWER_BYTES,
            pace.retention(),
            WRITERS,
            subject.perSecond());
    try (var pool = database.newPool(WRITERS);
        var sweepers = database.newPool(1);
        ExpirySweeper sweeper =
            ExpirySweeper.builder(sweepers).interval(Duration.ofSeconds(1)).build();
        RecordWriter writer =
            RecordWriter.start(
                settings, PostgresIdempotencyStore.builder(pool).build(), superuser)) {
      ExpirySweeper unused = sweeper.start();
      long seconds = pace.retention().toSeconds() * 2;
      TimeUnit.SECONDS.sleep(seconds);
      double sizeBefore = size(superuser);
      Counters before = Counters.read(superuser);
      long writtenBefore = writer.written();
      Rounds dead = new Rounds();
      long start = System.nanoTime();
      for (int second = 0; second < seconds; second++) {
        TimeUnit.SECONDS.sleep(1);
        dead.add(
            one(
                superuser,
                "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = '%s'::regclass"));
      }
      double took = (System.nanoTime() - start) / 1e9;
      double written = writer.written() - writtenBefore;
      Counters after = Counters.read(superuser);
      report.add(name(), subject.label(), 0, "creates/s", written / took);
      report.add(
          name(), subject.label(), 0, "swept/s", (after.deleted() - before.deleted()) / took);
      report.add(name(), subject.label(), 0, "rows", one(superuser, "SELECT count(*) FROM %s"));
      report.add(name(), subject.label(), 0, "dead rows", dead);
      report.add(name(), subject.label(), 0, "MB", size(superuser) / MEGABYTE);
      report.add(name(), subject.label(), 0, "growth", size(superuser) / sizeBefore);
      report.add(
          name(),
          subject.label(),
          0,
          "vacuums/min",
          (after.vacuums() - before.vacuums()) * 60 / took);
      report.add(
          name(),
          subject.label(),
          0,
          "vacuum, % of the time",
          (after.vacuumMillis() - before.vacuumMillis()) / 10 / took);
      report.add(
          name(), subject.label(), 0, "WAL B/create", (after.wal() - before.wal()) / written);
      if (after.updated() > before.updated()) {
        report.add(
            name(),
            subject.label(),
            0,
            "HOT updates, %",
            100
                * (after.updatedHot() - before.updatedHot())
                / (after.updated() - before.updated()));
      }
    }
    superuser.useHandle(handle -> handle.execute("VACUUM FULL " + TABLE));
    report.add(name(), subject.label(), 0, "MB packed", size(superuser) / MEGABYTE);
  }

  private static void prepare(Jdbi superuser, Autovacuum autovacuum) {
    superuser.useHandle(
        handle -> {
          handle.execute("TRUNCATE " + TABLE);
          handle.execute("TRUNCATE app.project CASCADE");
          alter(handle, Autovacuum.DEFAULTS);
          alter(handle, autovacuum);
        });
  }

  private static void alter(Handle handle, Autovacuum autovacuum) {
    handle.execute("ALTER TABLE %s %s".formatted(TABLE, autovacuum.change));
  }

  private static double size(Jdbi superuser) {
    return one(superuser, "SELECT pg_total_relation_size('%s')");
  }

  private static double one(Jdbi superuser, String query) {
    return superuser.withHandle(
        handle -> handle.createQuery(query.formatted(TABLE)).mapTo(Double.class).one());
  }
}
