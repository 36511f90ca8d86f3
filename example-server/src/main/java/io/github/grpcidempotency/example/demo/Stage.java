package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.service.background.Parts;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** The resources of the scenes: two servers, their database, and two users. */
final class Stage implements AutoCloseable {
  private static final long POLL_MILLIS = 20;

  /** Backends of the servers that wait for the lock of {@link #killDuring}. */
  private static final String WAITING =
      """
      SELECT max(l.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
       WHERE l.relation = 'authz.outbox'::regclass AND NOT l.granted AND a.usename = 'example_app'
      """;

  private final Parts parts = new Parts();
  private final Jdbi superuser;
  final Backend a;
  final Backend b;
  final UUID ada = UUID.randomUUID();
  final UUID grace = UUID.randomUUID();

  Stage(Database database) {
    superuser = Jdbi.create(database.superuser());
    new CloudTable(database.superuser()).create();
    a = parts.start(() -> new Backend("A", database.url()));
    b = parts.start(() -> new Backend("B", database.url()));
  }

  /**
   * Makes a call, and kills its server in the middle of the handler: after the handler's other
   * effects, and before its INSERT into the outbox, which waits for a lock.
   *
   * @return what the client gets
   */
  Answer killDuring(Backend server, Supplier<Answer> call, Runnable inHandler) {
    try (Handle lock = superuser.open()) {
      lock.begin().execute("LOCK TABLE authz.outbox IN SHARE MODE");
      CompletableFuture<Answer> answer = Threads.supply(call);
      await(() -> answer.isDone() || count(WAITING) > 0);
      int backend = count(WAITING);
      inHandler.run();
      server.kill();
      Answer cut = answer.join();
      lock.rollback();
      await(() -> count("SELECT count(*) FROM pg_stat_activity WHERE pid = ?", backend) == 0);
      server.restart();
      return cut;
    }
  }

  private static void await(BooleanSupplier condition) {
    try {
      while (!condition.getAsBoolean()) {
        Thread.sleep(POLL_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  /** Counts rows without row-level security, to check the answers. */
  Row row(int expected, String what, String rows, Object... values) {
    return new Row(expected, count("SELECT count(*) FROM " + rows, values), what);
  }

  /** Counts the records of a key. */
  Row records(int expected, UUID key) {
    return row(
        expected,
        expected == 1 ? "record" : "records",
        "idempotency.idempotency_keys WHERE idempotency_key = ? AND completed IS NOT NULL",
        key.toString());
  }

  private int count(String sql, Object... values) {
    return superuser.withHandle(
        handle -> handle.select(sql, values).mapTo(Integer.class).findOne().orElse(0));
  }

  @Override
  public void close() {
    parts.close();
  }
}
