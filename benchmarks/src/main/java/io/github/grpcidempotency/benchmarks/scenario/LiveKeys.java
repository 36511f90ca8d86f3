package io.github.grpcidempotency.benchmarks.scenario;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyLoader;
import io.github.grpcidempotency.benchmarks.load.ClaimLoop;
import io.github.grpcidempotency.benchmarks.report.Report;
import io.github.grpcidempotency.benchmarks.report.Rounds;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/**
 * Claims alone, on tables full of live keys and on an empty one, each in a schema of its own. Every
 * round begins with a checkpoint, so that it pays for the full-page images of the pages it touches.
 */
public final class LiveKeys implements Scenario {
  private static final int CLAIMERS = 16;

  /** One of the tables. */
  private record Table(
      String label,
      String schema,
      boolean ordered,
      Supplier<UUID> keys,
      Rounds ratio,
      Rounds rate,
      Rounds wal) {
    Table(String label, String schema, boolean ordered, Supplier<UUID> keys) {
      this(label, schema, ordered, keys, new Rounds(), new Rounds(), new Rounds());
    }

    boolean isEmpty() {
      return schema.equals(IdempotencySchema.DEFAULT_NAME);
    }
  }

  @Override
  public String name() {
    return "live keys";
  }

  @Override
  public void run(DurableDatabase database, Pace pace, Report report) {
    Jdbi superuser = database.superuser();
    Table empty =
        new Table(
            "empty table", IdempotencySchema.DEFAULT_NAME, true, UuidCreator::getTimeOrderedEpoch);
    Table ordered =
        new Table("UUIDv7 keys", "ordered_keys", true, UuidCreator::getTimeOrderedEpoch);
    Table random = new Table("UUIDv4 keys", "random_keys", false, UUID::randomUUID);
    for (Table table : List.of(ordered, random)) {
      report.progress("%s: loading %,d %s", name(), pace.liveKeys(), table.label());
      database.migrate(table.schema());
      KeyLoader.loadLive(superuser, table.schema(), pace.liveKeys(), table.ordered());
    }
    try (var pool = database.newPool(pace.connections())) {
      for (int round = 0; round <= pace.rounds(); round++) {
        report.progress("%s: round %d of %d", name(), round, pace.rounds());
        double claimsOnEmpty = 0;
        for (Table table : List.of(empty, ordered, random)) {
          double claims = measure(table, pool, superuser, pace.round(), round > 0);
          claimsOnEmpty = table.isEmpty() ? claims : claimsOnEmpty;
          if (round > 0) {
            table.ratio().add(claims / claimsOnEmpty);
          }
        }
      }
    }
    for (Table table : List.of(empty, ordered, random)) {
      report.add(name(), table.label(), CLAIMERS, "claims ratio", table.ratio());
      report.add(name(), table.label(), CLAIMERS, "claims/s", table.rate());
      report.add(name(), table.label(), CLAIMERS, "WAL per claim (B)", table.wal());
    }
  }

  private static double measure(
      Table table, DataSource pool, Jdbi superuser, Duration time, boolean counts) {
    if (table.isEmpty()) {
      superuser.useHandle(handle -> handle.execute("TRUNCATE idempotency.idempotency_keys"));
    }
    superuser.useHandle(handle -> handle.execute("CHECKPOINT"));
    PostgresIdempotencyStore store =
        PostgresIdempotencyStore.builder(pool).schema(table.schema()).build();
    long walBefore = walPosition(superuser);
    long claims = ClaimLoop.run(store, table.keys(), CLAIMERS, time);
    double perSecond = claims / (time.toMillis() / 1e3);
    if (counts) {
      table.rate().add(perSecond);
      table.wal().add((double) (walPosition(superuser) - walBefore) / claims);
    }
    return perSecond;
  }

  private static long walPosition(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
                .mapTo(Long.class)
                .one());
  }
}
