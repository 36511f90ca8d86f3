package io.github.grpcidempotency.benchmarks.database;

import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;

/**
 * The resources of the database that some work has used.
 *
 * @param roundTrips round trips at the application's sockets
 * @param statements the statements in them, including BEGIN and COMMIT
 * @param transactions committed transactions, including read-only ones
 * @param walSyncs the number of flushes of the WAL
 * @param walBytes the growth of the WAL
 */
public record Usage(
    long roundTrips, long statements, long transactions, long walSyncs, long walBytes) {
  /** The server's own statistics. */
  public record Statistics(long transactions, long walSyncs, long walBytes) {}

  /**
   * Does the work, and returns the resources that it has used. All of it goes through these pools.
   * Their connections are made to report their statistics, because they report only once a second
   * by themselves.
   */
  public static Usage of(List<HikariDataSource> pools, Jdbi superuser, Runnable work) {
    Statistics before = read(pools, superuser);
    long roundTrips = MeteredSocket.roundTrips();
    long statements = MeteredSocket.statements();
    work.run();
    roundTrips = MeteredSocket.roundTrips() - roundTrips;
    statements = MeteredSocket.statements() - statements;
    Statistics after = read(pools, superuser);
    return new Usage(
        roundTrips,
        statements,
        after.transactions() - before.transactions(),
        after.walSyncs() - before.walSyncs(),
        after.walBytes() - before.walBytes());
  }

  private static Statistics read(List<HikariDataSource> pools, Jdbi superuser) {
    for (HikariDataSource pool : pools) {
      reportFrom(pool, pool.getMaximumPoolSize());
    }
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(DurableDatabase.script("statistics"))
                .map(ConstructorMapper.of(Statistics.class))
                .one());
  }

  /** Takes all connections at the same time, so that none is missed. */
  private static void reportFrom(HikariDataSource pool, int connections) {
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
