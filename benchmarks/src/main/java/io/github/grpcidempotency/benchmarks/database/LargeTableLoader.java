package io.github.grpcidempotency.benchmarks.database;

import io.github.grpcidempotency.benchmarks.load.StoreCalls;
import java.io.File;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Fills several tables at once with the same {@link NumberedRecords}, unless an earlier run has
 * done so.
 */
public final class LargeTableLoader {
  private static final int BATCH = 50_000;

  /** What a record takes at most, with all of its indexes. */
  private static final long BYTES_OF_RECORD = 600;

  /** How far the log may grow between two checkpoints, and what has to remain free. */
  private static final long BYTES_OF_LOG = 20_000_000_000L;

  private static final String LOADED =
      """
      CREATE TABLE IF NOT EXISTS app.loaded (
        schema_name text PRIMARY KEY, partitions integer, live bigint, expired bigint, begun bigint)
      """;

  private final DurableDatabase database;
  private final Jdbi superuser;
  private final Consumer<String> progress;
  private final long expired;
  private final long live;

  /** How a table was loaded. */
  private record Loaded(int partitions, long live, long expired, long begun) {}

  /** Prepares to load so many records, the expired ones first. */
  public LargeTableLoader(
      DurableDatabase database, long expired, long live, Consumer<String> progress) {
    this.database = database;
    this.superuser = database.superuser();
    this.expired = expired;
    this.live = live;
    this.progress = progress;
  }

  /**
   * Makes and fills tables, and returns what they hold. Blocks.
   *
   * @throws IllegalArgumentException if there is not enough space, or an earlier run has loaded
   *     others
   */
  public NumberedRecords load(List<KeyTable> tables) {
    superuser.useHandle(handle -> handle.execute(LOADED));
    Optional<NumberedRecords> earlier = earlier(tables);
    if (earlier.isPresent()) {
      progress.accept("loaded by an earlier run");
      return earlier.get();
    }
    checkSpace(tables.size());
    for (KeyTable table : tables) {
      table.create(database);
      table.set(superuser, "autovacuum_enabled = off");
    }
    long begun = System.currentTimeMillis() - expired - live;
    loadAll(tables, begun);
    superuser.useHandle(
        handle -> {
          handle.execute("CHECKPOINT");
          for (KeyTable table : tables) {
            handle.execute(
                "INSERT INTO app.loaded VALUES (?, ?, ?, ?, ?)",
                table.schema(),
                table.partitions(),
                live,
                expired,
                begun);
          }
        });
    return new NumberedRecords(begun);
  }

  private Optional<NumberedRecords> earlier(List<KeyTable> tables) {
    return superuser.withHandle(
        handle -> {
          long begun = 0;
          for (KeyTable table : tables) {
            Optional<Loaded> loaded =
                handle
                    .createQuery("SELECT * FROM app.loaded WHERE schema_name = ?")
                    .bind(0, table.schema())
                    .map(
                        (row, context) ->
                            new Loaded(
                                row.getInt("partitions"),
                                row.getLong("live"),
                                row.getLong("expired"),
                                row.getLong("begun")))
                    .findOne();
            if (loaded.isEmpty()) {
              return Optional.empty();
            }
            begun = loaded.get().begun();
            if (!loaded.get().equals(new Loaded(table.partitions(), live, expired, begun))) {
              throw new IllegalArgumentException(
                  "the data directory holds other tables: %s".formatted(loaded.get()));
            }
          }
          return Optional.of(new NumberedRecords(begun));
        });
  }

  private void checkSpace(int tables) {
    String directory =
        superuser.withHandle(
            handle -> handle.createQuery("SHOW data_directory").mapTo(String.class).one());
    long free = new File(directory).getUsableSpace();
    long data = (expired + live) * tables * BYTES_OF_RECORD;
    long needed = data + Math.min(2 * data, BYTES_OF_LOG);
    progress.accept(
        "%,d records in each of %d tables: up to %.1f GB with the log; %.1f GB are free"
            .formatted(expired + live, tables, needed / 1e9, free / 1e9));
    if (free < needed) {
      throw new IllegalArgumentException(
          "not enough space in %s: %.1f GB are free, %.1f needed; ask for fewer --rows"
              .formatted(directory, free / 1e9, needed / 1e9));
    }
  }

  private void loadAll(List<KeyTable> tables, long begun) {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      CompletableFuture.allOf(
              tables.stream()
                  .map(table -> CompletableFuture.runAsync(() -> load(table, begun), threads))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
    } finally {
      threads.shutdownNow();
    }
  }

  private void load(KeyTable table, long begun) {
    long all = expired + live;
    long start = System.nanoTime();
    superuser.useHandle(
        handle -> {
          handle.execute("SET session_replication_role = replica");
          handle.execute("SET synchronous_commit = off");
          String sql =
              DurableDatabase.script("numbered_records").replace("${schema}", table.schema());
          for (long first = 1; first <= all; first += BATCH) {
            long last = Math.min(all, first + BATCH - 1);
            insert(handle, sql, begun, first, last);
            if (last == all || last % (20L * BATCH) == 0) {
              progress.accept(
                  String.format(
                      Locale.ROOT,
                      "%s: loaded %,d of %,d, %,.0f a second",
                      table.label(),
                      last,
                      all,
                      last / ((System.nanoTime() - start) / 1e9)));
            }
          }
          handle.execute("VACUUM (FREEZE, ANALYZE) " + table.table());
          handle.execute("ANALYZE " + table.table());
        });
    progress.accept(table.label() + ": vacuumed");
  }

  private void insert(Handle handle, String sql, long begun, long first, long last) {
    int unused =
        handle
            .createUpdate(sql)
            .bind("procedure", StoreCalls.TRANSACTIONAL.name())
            .bind("hash", StoreCalls.FINGERPRINT.hash().toByteArray())
            .bind("hash_version", StoreCalls.FINGERPRINT.version())
            .bind("response", new byte[StoreCalls.ANSWER_BYTES])
            .bind("begun", begun)
            .bind("expired", expired)
            .bind("first", first)
            .bind("last", last)
            .execute();
  }
}
