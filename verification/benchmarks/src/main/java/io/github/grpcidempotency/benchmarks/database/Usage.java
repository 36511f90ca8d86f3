package io.github.grpcidempotency.benchmarks.database;

import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;

/**
 * What some work has used of the database.
 *
 * @param roundTrips turn-arounds at the application's sockets
 * @param statements what was sent in them, BEGIN and COMMIT included
 * @param transactions committed transactions, read-only ones included
 * @param walSyncs times that WAL was flushed to disk
 * @param walBytes how far the log has grown
 */
public record Usage(
    long roundTrips, long statements, long transactions, long walSyncs, long walBytes) {
  /** What the server itself tells. */
  public record Statistics(long transactions, long walSyncs, long walBytes) {}

  /**
   * Does the work, and returns what it has used. All of it goes through a pool of so many
   * connections, which are made to report what they have done: by themselves they report once a
   * second only.
   */
  public static Usage of(DataSource pool, int connections, Jdbi superuser, Runnable work) {
    Statistics before = read(pool, connections, superuser);
    long roundTrips = MeteredSocket.roundTrips();
    long statements = MeteredSocket.statements();
    work.run();
    roundTrips = MeteredSocket.roundTrips() - roundTrips;
    statements = MeteredSocket.statements() - statements;
    Statistics after = read(pool, connections, superuser);
    return new Usage(
        roundTrips,
        statements,
        after.transactions() - before.transactions(),
        after.walSyncs() - before.walSyncs(),
        after.walBytes() - before.walBytes());
  }

  private static Statistics read(DataSource pool, int connections, Jdbi superuser) {
    reportFrom(pool, connections);
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(DurableDatabase.script("statistics"))
                .map(ConstructorMapper.of(Statistics.class))
                .one());
  }

  /** Has all of them at once, so that none is left out. */
  private static void reportFrom(DataSource pool, int connections) {
    if (connections > 0) {
      Jdbi.create(pool)
          .useHandle(
              handle -> {
                reportFrom(pool, connections - 1);
                handle.execute("SELECT pg_stat_force_next_flush()");
              });
    }
  }
}
