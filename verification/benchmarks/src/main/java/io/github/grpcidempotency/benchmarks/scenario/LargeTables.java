package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.ResourceDeletion;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.service.Variant;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * Compares one plain table of many records with hash partitions: their sizes, the cost of the
 * store's calls, the memory of a connection, the deletion of a resource, sweeps and vacuums.
 */
public final class LargeTables {
  private static final int CALLERS = 16;
  private static final int PROJECTS = 10_000;
  private static final int USERS = 16_385;
  static final int ANSWER_BYTES = 100;
  private static final int SAMPLE = 100_000;
  private static final int NEWEST = 1_000;
  private static final int DELETIONS = 200;
  private static final double MEGABYTE = 1e6;
  static final Duration RETENTION = Duration.ofDays(7);

  /** The share of records that is swept in a round of upkeep: one in this number. */
  private static final int SWEPT = 25;

  /** Rounds of calls for a round of each way to vacuum. */
  private static final int ROUNDS_PER_VACUUM = 4;

  /** As in the driver's URL. */
  private static final String GENERIC_PLANS = "plan_cache_mode=force_generic_plan";

  /** A table, with calls by connections of one kind. */
  private record Loaded(String label, StoreCalls calls) {}

  private LargeTables() {}

  /** Measures, and adds the results to the report. */
  public static void run(DurableDatabase database, Pace pace, Report.Section report) {
    List<KeyTable> tables = new ArrayList<>(List.of(new KeyTable("one_table", 1)));
    pace.partitions().forEach(number -> tables.add(new KeyTable("partitions_" + number, number)));
    int upkeeps = TableUpkeep.WAYS * Math.max(1, (pace.rounds() + 1) / ROUNDS_PER_VACUUM);
    long swept = Math.max(1, pace.rows() / SWEPT);
    long expired = swept * upkeeps;
    load(tables, expired, expired + pace.rows(), database, report);
    for (KeyTable table : tables) {
      double bytes = table.bytes(database.superuser());
      report.part("size").add(table.label(), 0, "table and indexes (MB)", bytes / MEGABYTE);
    }
    database.execute("GRANT pg_read_all_stats TO benchmark_app");
    compareCalls(tables, database, pace, report);
    ResourceDeletion.measure(database.superuser(), tables, DELETIONS)
        .forEach(
            (table, micros) ->
                report
                    .part("deletion")
                    .add(table.label(), 1, "check of a foreign key (µs)", micros));
    new TableUpkeep(database, pace.round(), report).run(tables, upkeeps, swept);
  }

  private static void load(
      List<KeyTable> tables,
      long expired,
      long count,
      DurableDatabase database,
      Report.Section report) {
    KeyTable first = tables.get(0);
    for (KeyTable table : tables) {
      report.progress("loading %,d records into %s", count, table.label());
      table.create(database);
      table.set(database.superuser(), "autovacuum_enabled = off");
      if (table.equals(first)) {
        new KeyLoader(count, expired, 0.5, USERS, false, ANSWER_BYTES)
            .load(database.superuser(), table.schema());
      } else {
        table.copyFrom(first, database.superuser());
      }
    }
    database.execute("CHECKPOINT");
  }

  private static void compareCalls(
      List<KeyTable> tables, DurableDatabase database, Pace pace, Report.Section report) {
    KeyTable plain = tables.get(0);
    Supplier<IdempotencyKey> any =
        anyOf(plain.keys(database.superuser(), "WHERE expires > now() ORDER BY random()", SAMPLE));
    Supplier<IdempotencyKey> newest =
        anyOf(plain.keys(database.superuser(), "ORDER BY id DESC", NEWEST));
    Supplier<UUID> projects = Projects.inTurn(database.superuser(), PROJECTS);
    List<Loaded> loaded = new ArrayList<>();
    try {
      for (KeyTable table : tables) {
        StoreCalls plans = new StoreCalls(database, table.schema(), "", CALLERS);
        loaded.add(new Loaded(table.label(), plans));
        if (table.partitions() > 1) {
          String label = table.label() + ", generic plans";
          StoreCalls generic = new StoreCalls(database, table.schema(), GENERIC_PLANS, CALLERS);
          loaded.add(new Loaded(label, generic));
        }
      }
      List<Loaded> inTurn = new ArrayList<>(loaded);
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("round %d of %d", round, pace.rounds());
        Collections.reverse(inTurn);
        // The first round only warms up.
        Duration time = round == 0 ? pace.round().dividedBy(2) : pace.round();
        for (Work work : Work.values()) {
          List<StoreCalls.Measured> measured = new ArrayList<>();
          for (Loaded table : inTurn) {
            Operation operation = work.on(table.calls(), projects, any, newest);
            measured.add(table.calls().measure(operation, time));
          }
          if (round > 0) {
            StoreCalls.Measured onPlain = measured.get(inTurn.indexOf(loaded.get(0)));
            for (Loaded table : loaded) {
              String label = work.label + ": " + table.label();
              add(label, measured.get(inTurn.indexOf(table)), onPlain, report);
            }
          }
        }
      }
      for (Loaded table : loaded) {
        String label = "a connection after them: " + table.label();
        report.add(label, CALLERS, "memory (MB)", table.calls().connectionBytes() / MEGABYTE);
      }
    } finally {
      loaded.forEach(table -> table.calls().close());
    }
  }

  private static void add(
      String label, StoreCalls.Measured own, StoreCalls.Measured plain, Report.Section report) {
    double p99 = own.load().millis().p99();
    report.add(
        label, CALLERS, "times one table", own.load().perSecond() / plain.load().perSecond());
    report.add(label, CALLERS, "calls/s", own.load().perSecond());
    report.add(label, CALLERS, "p50 (ms)", own.load().millis().p50());
    report.add(label, CALLERS, "p99 (ms)", p99);
    report.add(label, CALLERS, "p99, times one table", p99 / plain.load().millis().p99());
    report.add(label, CALLERS, "database CPU (µs)", own.cpuMicros());
    report.add(label, CALLERS, "CPU, times one table", own.cpuMicros() / plain.cpuMicros());
    report.add(label, CALLERS, "WAL per call (B)", own.walBytes());
  }

  private static Supplier<IdempotencyKey> anyOf(List<IdempotencyKey> keys) {
    return () -> keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
  }

  /** Returns new keys of all users. */
  static Supplier<IdempotencyKey> newKeys(Supplier<UUID> uuids) {
    return () -> {
      int user = ThreadLocalRandom.current().nextInt(USERS);
      UUID id = UUID.fromString("00000000-0000-4000-8000-%012x".formatted(user));
      return new IdempotencyKey(Caller.of(id), uuids.get().toString());
    };
  }

  /** The operations of the callers. */
  private enum Work {
    CREATE_ORDERED("transactional, UUIDv7 keys"),
    CREATE_RANDOM("transactional, UUIDv4 keys"),
    RESERVE_ORDERED("reserved, UUIDv7 keys"),
    RESERVE_RANDOM("reserved, UUIDv4 keys"),
    REPLAY_ANY("replay of any record"),
    REPLAY_NEW("replay of one of the newest 1,000");

    private final String label;

    Work(String label) {
      this.label = label;
    }

    Operation on(
        StoreCalls calls,
        Supplier<UUID> projects,
        Supplier<IdempotencyKey> any,
        Supplier<IdempotencyKey> newest) {
      Supplier<UUID> keys =
          this == CREATE_RANDOM || this == RESERVE_RANDOM
              ? UUID::randomUUID
              : UuidCreator::getTimeOrderedEpoch;
      return switch (this) {
        case CREATE_ORDERED, CREATE_RANDOM ->
            calls.creates(Variant.TRANSACTIONAL, newKeys(keys), projects, ANSWER_BYTES, RETENTION);
        case RESERVE_ORDERED, RESERVE_RANDOM ->
            calls.creates(
                Variant.RESERVED_SAME_DATABASE, newKeys(keys), projects, ANSWER_BYTES, RETENTION);
        case REPLAY_ANY -> calls.replays(any);
        case REPLAY_NEW -> calls.replays(newest);
      };
    }
  }
}
