package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.joining;

import io.github.grpcidempotency.testing.CheckedPool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/** Notes in the database what a server's pool finds when connections are given back to it. */
final class PoolFindings {
  private static final int MILLIS_BETWEEN_LOOKS = 200;
  private static final int FRAMES = 4;

  private final String server;
  private final CheckedPool pool;
  private final Jdbi past;
  private final List<String> unwritten = new ArrayList<>();

  /**
   * Watches a pool.
   *
   * @param past bypasses all faults
   */
  PoolFindings(String server, CheckedPool pool, DataSource past) {
    this.server = server;
    this.pool = pool;
    this.past = Jdbi.create(past);
  }

  /** Looks from now on, for as long as the process lives. */
  void start() {
    var unused =
        Executors.newSingleThreadScheduledExecutor()
            .scheduleWithFixedDelay(
                this::look, MILLIS_BETWEEN_LOOKS, MILLIS_BETWEEN_LOOKS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      pool.check();
    } catch (AssertionError found) {
      unwritten.add("%s, and %d more".formatted(describe(found), found.getSuppressed().length));
    }
    try {
      while (!unwritten.isEmpty()) {
        write(unwritten.get(0));
        unwritten.remove(0);
      }
    } catch (JdbiException databaseIsOut) {
      // the next look writes them
    }
  }

  private void write(String what) {
    past.useHandle(
        handle ->
            handle.execute(
                "INSERT INTO torture.findings (rule, server, what) VALUES (?, ?, ?)",
                Rule.CONNECTION_RETURNED_CLEAN.name(),
                server,
                what));
  }

  /** Says who has given the connection back. */
  private static String describe(AssertionError found) {
    return Arrays.stream(found.getStackTrace())
        .filter(frame -> frame.getClassName().startsWith("io.github.grpcidempotency."))
        .filter(frame -> !frame.getClassName().startsWith(CheckedPool.class.getName()))
        .limit(FRAMES)
        .map(frame -> "%s:%d".formatted(frame.getFileName(), frame.getLineNumber()))
        .collect(joining(" < ", found.getMessage() + " by ", ""));
  }
}
