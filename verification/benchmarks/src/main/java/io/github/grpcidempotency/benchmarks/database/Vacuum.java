package io.github.grpcidempotency.benchmarks.database;

import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * The cost of a vacuum of a table.
 *
 * @param seconds from its beginning to its end
 * @param longest the longest of the vacuums that it consisted of: during this time, rows that have
 *     died since its start cannot be removed in any table
 * @param passes how often all indexes of a table were scanned
 * @param wal bytes
 */
public record Vacuum(double seconds, double longest, double passes, double wal) {
  private static final Pattern PASSES = Pattern.compile("index scans: (\\d+)");
  private static final double LIMIT_SECONDS = 1_800;

  /** The statistics of a table's autovacuums so far. */
  private record Autovacuums(long count, long dead, double seconds) {
    static final Autovacuums NONE = new Autovacuums(0, 0, 0);
  }

  /** The ways to vacuum. */
  public enum Way {
    /** One table after the other, by one process each. */
    ONE("one process"),
    /** Two partitions at a time, or the indexes of a plain table side by side. */
    TWO("two processes"),
    /** With its default settings, except for its start. */
    AUTOVACUUM("autovacuum");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    /** Returns its name in tables of results. */
    public String label() {
      return label;
    }
  }

  /** Vacuums a table. Blocks. */
  public static Vacuum of(KeyTable table, Way way, DurableDatabase database) {
    boolean parts = table.partitions() > 1;
    return switch (way) {
      case ONE -> run(database, table, 1, 0);
      case TWO -> run(database, table, parts ? 2 : 1, parts ? 0 : 1);
      case AUTOVACUUM -> byAutovacuum(database, table);
    };
  }

  private static Vacuum byAutovacuum(DurableDatabase database, KeyTable table) {
    Jdbi superuser = database.superuser();
    List<String> leaves = table.leaves(superuser);
    pause(); // until the sessions that have swept are closed, and have reported their statistics
    Map<String, Autovacuums> before = autovacuums(superuser);
    double walBefore = database.logPosition();
    long start = System.nanoTime();
    table.set(
        superuser,
        "autovacuum_enabled = on, autovacuum_vacuum_threshold = 1,"
            + " autovacuum_vacuum_scale_factor = 0");
    Map<String, Autovacuums> after = before;
    while (!leaves.stream().allMatch(isVacuumed(before, after))) {
      if ((System.nanoTime() - start) / 1e9 > LIMIT_SECONDS) {
        throw new IllegalStateException("autovacuum did not start in time");
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
    return new Vacuum(seconds, longest, 0, database.logPosition() - walBefore);
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(500);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped while waiting for autovacuum", ended);
    }
  }

  /**
   * Returns which partitions are vacuumed. A partition in which nothing was swept has nothing to
   * vacuum.
   */
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
                .createQuery(DurableDatabase.script("autovacuums"))
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

  private static Vacuum run(DurableDatabase database, KeyTable table, int processes, int workers) {
    double walBefore = database.logPosition();
    long start = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(processes);
    List<CompletableFuture<Vacuum>> running =
        table.leaves(database.superuser()).stream()
            .map(
                leaf ->
                    CompletableFuture.supplyAsync(() -> vacuum(database, leaf, workers), threads))
            .toList();
    List<Vacuum> single = running.stream().map(CompletableFuture::join).toList();
    threads.shutdownNow();
    return new Vacuum(
        (System.nanoTime() - start) / 1e9,
        single.stream().mapToDouble(Vacuum::seconds).max().orElse(0),
        single.stream().mapToDouble(Vacuum::passes).sum(),
        database.logPosition() - walBefore);
  }

  /** Reads the server's notices about the vacuum. */
  private static Vacuum vacuum(DurableDatabase database, String leaf, int workers) {
    double passes = 0;
    try (Handle handle = database.superuser().open();
        Statement statement = handle.getConnection().createStatement()) {
      long start = System.nanoTime();
      statement.execute("VACUUM (VERBOSE, PARALLEL %d) %s".formatted(workers, leaf));
      double seconds = (System.nanoTime() - start) / 1e9;
      for (SQLWarning notice = statement.getWarnings();
          notice != null;
          notice = notice.getNextWarning()) {
        Matcher indexes = PASSES.matcher(notice.getMessage());
        passes += indexes.find() ? Double.parseDouble(indexes.group(1)) : 0;
      }
      return new Vacuum(seconds, seconds, passes, 0);
    } catch (SQLException failure) {
      throw new IllegalStateException("cannot vacuum " + leaf, failure);
    }
  }
}
