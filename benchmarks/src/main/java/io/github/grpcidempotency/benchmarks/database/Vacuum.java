package io.github.grpcidempotency.benchmarks.database;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * What a vacuum of a table took.
 *
 * @param seconds from its beginning to its end
 * @param longest the longest of the vacuums that it consisted of: for so long the oldest snapshot
 *     stays, and nothing that has died since can be removed anywhere
 * @param passes how often all indexes of a table were gone through
 * @param pages how many pages it has looked at, those of indexes included; 0 if nobody tells
 * @param dirtied how many of them it has changed; 0 if nobody tells
 * @param wal bytes
 */
public record Vacuum(
    double seconds, double longest, double passes, double pages, double dirtied, double wal) {
  private static final Pattern PASSES = Pattern.compile("index scans: (\\d+)");
  private static final Pattern BUFFERS =
      Pattern.compile("buffer usage: (\\d+) hits, (\\d+) (?:reads|misses), (\\d+) dirtied");
  private static final double LIMIT_SECONDS = 1_800;

  private static final String AUTOVACUUMS =
      """
      SELECT CAST(relid AS regclass)::text AS leaf, autovacuum_count AS count, n_dead_tup AS dead,
             COALESCE(CAST(to_jsonb(s) ->> 'total_autovacuum_time' AS float8), 0) / 1000 AS seconds
        FROM pg_stat_user_tables AS s
      """;

  /** What statistics say of a table's autovacuums so far. */
  private record Autovacuums(long count, long dead, double seconds) {
    static final Autovacuums NONE = new Autovacuums(0, 0, 0);
  }

  /** Vacuums one table after the other, by one process each. */
  public static Vacuum byOneProcess(Jdbi superuser, KeyTable table) {
    return run(superuser, table, 1, 0);
  }

  /**
   * Vacuums with two processes: two partitions at a time, or the indexes of a plain table side by
   * side.
   */
  public static Vacuum byTwoProcesses(Jdbi superuser, KeyTable table) {
    return table.partitions() == 1 ? run(superuser, table, 1, 1) : run(superuser, table, 2, 0);
  }

  /** Lets autovacuum do it, with its default settings but for when it begins. Blocks. */
  public static Vacuum byAutovacuum(Jdbi superuser, KeyTable table) {
    List<String> leaves = table.leaves(superuser);
    pause(); // until those who have swept are gone, and have told the statistics
    Map<String, Autovacuums> before = autovacuums(superuser);
    double walBefore = wal(superuser);
    long start = System.nanoTime();
    table.set(
        superuser,
        "autovacuum_enabled = on, autovacuum_vacuum_threshold = 1,"
            + " autovacuum_vacuum_scale_factor = 0");
    Map<String, Autovacuums> after = before;
    while (!leaves.stream().allMatch(isVacuumed(before, after))) {
      if ((System.nanoTime() - start) / 1e9 > LIMIT_SECONDS) {
        throw new IllegalStateException("autovacuum does not come by");
      }
      pause();
      after = autovacuums(superuser);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    table.set(superuser, "autovacuum_enabled = off");
    Map<String, Autovacuums> end = after;
    double longest =
        leaves.stream()
            .mapToDouble(leaf -> of(end, leaf).seconds() - of(before, leaf).seconds())
            .max()
            .orElse(0);
    return new Vacuum(seconds, longest, 0, 0, 0, wal(superuser) - walBefore);
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(500);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped while waiting for autovacuum", ended);
    }
  }

  /** A partition that the sweep has left alone has nothing to vacuum. */
  private static Predicate<String> isVacuumed(
      Map<String, Autovacuums> before, Map<String, Autovacuums> after) {
    return leaf ->
        of(after, leaf).count() > of(before, leaf).count() || of(after, leaf).dead() == 0;
  }

  private static Autovacuums of(Map<String, Autovacuums> all, String leaf) {
    return all.getOrDefault(leaf, Autovacuums.NONE);
  }

  private static Map<String, Autovacuums> autovacuums(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery(AUTOVACUUMS)
                .map(
                    (row, context) ->
                        Map.entry(
                            row.getString("leaf"),
                            new Autovacuums(
                                row.getLong("count"),
                                row.getLong("dead"),
                                row.getDouble("seconds"))))
                .collectToMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private static Vacuum run(Jdbi superuser, KeyTable table, int processes, int workers) {
    ConcurrentLinkedQueue<String> left = new ConcurrentLinkedQueue<>(table.leaves(superuser));
    List<Vacuum> single = Collections.synchronizedList(new ArrayList<>());
    double walBefore = wal(superuser);
    long start = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(processes);
    try {
      CompletableFuture.allOf(
              IntStream.range(0, processes)
                  .mapToObj(
                      i ->
                          CompletableFuture.runAsync(
                              () -> vacuumAll(superuser, left, workers, single), threads))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
    } finally {
      threads.shutdownNow();
    }
    return new Vacuum(
        (System.nanoTime() - start) / 1e9,
        single.stream().mapToDouble(Vacuum::seconds).max().orElse(0),
        single.stream().mapToDouble(Vacuum::passes).sum(),
        single.stream().mapToDouble(Vacuum::pages).sum(),
        single.stream().mapToDouble(Vacuum::dirtied).sum(),
        wal(superuser) - walBefore);
  }

  private static void vacuumAll(
      Jdbi superuser, ConcurrentLinkedQueue<String> left, int workers, List<Vacuum> done) {
    superuser.useHandle(
        handle -> {
          for (String leaf = left.poll(); leaf != null; leaf = left.poll()) {
            done.add(vacuum(handle, leaf, workers));
          }
        });
  }

  /** The server tells by notices what it has done. */
  private static Vacuum vacuum(Handle handle, String leaf, int workers) {
    double passes = 0;
    double pages = 0;
    double dirtied = 0;
    long start = System.nanoTime();
    try (Statement statement = handle.getConnection().createStatement()) {
      statement.execute("VACUUM (VERBOSE, PARALLEL %d) %s".formatted(workers, leaf));
      double seconds = (System.nanoTime() - start) / 1e9;
      for (SQLWarning notice = statement.getWarnings();
          notice != null;
          notice = notice.getNextWarning()) {
        Matcher indexes = PASSES.matcher(notice.getMessage());
        Matcher buffers = BUFFERS.matcher(notice.getMessage());
        passes += indexes.find() ? Double.parseDouble(indexes.group(1)) : 0;
        if (buffers.find()) {
          pages += Double.parseDouble(buffers.group(1)) + Double.parseDouble(buffers.group(2));
          dirtied += Double.parseDouble(buffers.group(3));
        }
      }
      return new Vacuum(seconds, seconds, passes, pages, dirtied, 0);
    } catch (SQLException failure) {
      throw new IllegalStateException("cannot vacuum " + leaf, failure);
    }
  }

  private static double wal(Jdbi superuser) {
    return superuser.withHandle(
        handle ->
            handle
                .createQuery("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")
                .mapTo(Double.class)
                .one());
  }
}
