package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.common.util.concurrent.RateLimiter;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;

/**
 * A table in which as many records expire as are created: its share of dead rows, and the work of
 * autovacuum. A retention of seconds simulates one of a day, so autovacuum checks once a second
 * here.
 */
public final class SteadyState {
  private static final String TABLE = "idempotency.idempotency_keys";
  private static final int WRITERS = 16;
  private static final int ANSWER_BYTES = 1_024;
  private static final double MEGABYTE = 1e6;

  /** How the table is vacuumed by default. */
  private static final String DEFAULTS =
      "RESET (autovacuum_enabled, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_limit)";

  /** Settings of the table. */
  private record Autovacuum(String label, String change) {
    static final Autovacuum UNCHANGED = new Autovacuum("defaults", DEFAULTS);
    static final Autovacuum FREQUENT =
        new Autovacuum(
            "scale factor 0.05, cost limit 2000",
            "SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000)");
    static final Autovacuum OFF = new Autovacuum("off", "SET (autovacuum_enabled = off)");
  }

  /** One line of the table; without a rate, at the maximum rate. */
  private record Subject(Variant variant, int perSecond, Autovacuum autovacuum) {
    String label() {
      String rate = perSecond == 0 ? "as many as possible" : perSecond + "/s";
      return "%s, %s, autovacuum: %s".formatted(variant.label(), rate, autovacuum.label());
    }
  }

  private static final List<Subject> SUBJECTS =
      List.of(
          new Subject(Variant.RESERVED_SAME_DATABASE, 1, Autovacuum.UNCHANGED),
          new Subject(Variant.RESERVED_SAME_DATABASE, 100, Autovacuum.UNCHANGED),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.UNCHANGED),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.FREQUENT),
          new Subject(Variant.RESERVED_SAME_DATABASE, 0, Autovacuum.OFF),
          new Subject(Variant.TRANSACTIONAL, 0, Autovacuum.UNCHANGED),
          new Subject(Variant.TRANSACTIONAL, 0, Autovacuum.FREQUENT));

  /** The database's counters of the table, since the server started. */
  public record Counters(
      double dead,
      double deleted,
      double updated,
      double updatedHot,
      double vacuums,
      double vacuumMillis,
      double wal) {}

  private SteadyState() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    database.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'");
    database.execute("SELECT pg_reload_conf()");
    for (Subject subject : SUBJECTS) {
      report.progress(subject.label());
      try {
        measure(subject, database, pace.retention(), report);
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** The first two retentions create the state, the next two are measured. */
  private static void measure(
      Subject subject, DurableDatabase database, Duration retention, Report.Section report)
      throws InterruptedException {
    String label = subject.label();
    database.execute("TRUNCATE " + TABLE);
    database.execute("TRUNCATE app.project CASCADE");
    database.execute("ALTER TABLE %s %s".formatted(TABLE, DEFAULTS));
    database.execute("ALTER TABLE %s %s".formatted(TABLE, subject.autovacuum().change()));
    try (var sweepers = database.newPool(1);
        ExpirySweeper sweeper =
            ExpirySweeper.builder(sweepers).interval(Duration.ofSeconds(1)).build();
        StoreCalls calls = new StoreCalls(database, WRITERS);
        ClosedLoop loop =
            ClosedLoop.start(
                creates(calls, subject, database, retention),
                subject.perSecond() == 0 ? WRITERS : 1)) {
      ExpirySweeper unused = sweeper.start();
      long seconds = retention.toSeconds() * 2;
      TimeUnit.SECONDS.sleep(seconds);
      double sizeBefore = size(database);
      Counters before = counters(database);
      loop.restart();
      for (int second = 0; second < seconds; second++) {
        TimeUnit.SECONDS.sleep(1);
        report.add(label, 0, "dead rows", counters(database).dead());
      }
      double perSecond = loop.seenSinceRestart().perSecond();
      double written = loop.seenSinceRestart().operations();
      double took = written / perSecond;
      Counters after = counters(database);
      report.add(label, 0, "creates/s", perSecond);
      report.add(label, 0, "swept/s", (after.deleted() - before.deleted()) / took);
      report.add(label, 0, "rows", database.number("SELECT count(*) FROM " + TABLE));
      report.add(label, 0, "MB", size(database) / MEGABYTE);
      report.add(label, 0, "growth", size(database) / sizeBefore);
      report.add(label, 0, "vacuums/min", (after.vacuums() - before.vacuums()) * 60 / took);
      report.add(
          label,
          0,
          "vacuum, % of the time",
          (after.vacuumMillis() - before.vacuumMillis()) / 10 / took);
      report.add(label, 0, "WAL B/create", (after.wal() - before.wal()) / written);
      report.add(
          label,
          0,
          "HOT updates, %",
          100 * (after.updatedHot() - before.updatedHot()) / (after.updated() - before.updated()));
    }
    database.execute("VACUUM FULL " + TABLE);
    report.add(label, 0, "MB packed", size(database) / MEGABYTE);
  }

  private static Operation creates(
      StoreCalls calls, Subject subject, DurableDatabase database, Duration retention) {
    RateLimiter limiter = RateLimiter.create(subject.perSecond() == 0 ? 1e9 : subject.perSecond());
    Supplier<UUID> keys =
        () -> {
          double unused = limiter.acquire();
          return UuidCreator.getTimeOrderedEpoch();
        };
    return calls.creates(
        subject.variant(),
        StoreCalls.keys(keys),
        new Projects(database.superuser(), 0),
        ANSWER_BYTES,
        retention);
  }

  private static Counters counters(DurableDatabase database) {
    return database
        .superuser()
        .withHandle(
            handle ->
                handle
                    .createQuery(DurableDatabase.script("counters"))
                    .map(ConstructorMapper.of(Counters.class))
                    .one());
  }

  private static double size(DurableDatabase database) {
    return database.number("SELECT pg_total_relation_size('%s')".formatted(TABLE));
  }
}
