package io.github.grpcidempotency.example.service.outbox;

import io.github.grpcidempotency.example.service.background.Repeating;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Does the work in the outbox, for all users: writes authorization tuples. Any number of workers
 * may run. A worker connects as a role of its own, which sees every user's outbox rows but none of
 * their resources.
 *
 * <p>One batch is one transaction. Rows that another worker has locked are skipped. If a worker
 * crashes, its rows are unchanged. Some attempts fail for the demo: every attempt for a resource
 * whose name starts with {@code fail-}, and the first attempt for {@code flaky-}.
 */
public final class OutboxWorker {
  private static final Duration POLL = Duration.ofMillis(50);
  private static final int BATCH = 20;
  private static final int MAX_ATTEMPTS = 3;

  private static final String LOCK_DUE =
      """
      SELECT id, user_id, resource_name, attempts + 1 AS attempt, subject, relation, object
      FROM authz.outbox
      WHERE status IN ('pending', 'retrying') AND next_attempt <= now()
      ORDER BY next_attempt
      LIMIT :size
      FOR UPDATE SKIP LOCKED
      """;

  private static final String WRITE_TUPLE =
      """
      INSERT INTO authz.tuples (user_id, subject, relation, object)
      VALUES (:userId, :tuple.subject, :tuple.relation, :tuple.object)
      ON CONFLICT (subject, relation, object) DO NOTHING
      """;

  /** The pause after a failure doubles: 0.2 seconds, then 0.4. */
  private static final String END_ATTEMPT =
      """
      UPDATE authz.outbox
      SET status = :status, attempts = :attempt, last_error = :error,
        next_attempt = now() + 100 * 2 ^ :attempt * interval '1 millisecond'
      WHERE id = :id
      """;

  private record DueEntry(long id, UUID userId, String resourceName, int attempt, Tuple tuple) {}

  private OutboxWorker() {}

  /** Starts a worker on a connection pool of the worker's role. */
  public static Repeating start(Jdbi jdbi) {
    return Repeating.start("outbox-worker", POLL, () -> drain(jdbi));
  }

  private static void drain(Jdbi jdbi) {
    int done = BATCH;
    while (done == BATCH) {
      done = jdbi.inTransaction(OutboxWorker::batch);
    }
  }

  private static int batch(Handle handle) {
    List<DueEntry> due =
        handle
            .createQuery(LOCK_DUE)
            .bind("size", BATCH)
            .map(
                (row, context) ->
                    new DueEntry(
                        row.getLong("id"),
                        row.getObject("user_id", UUID.class),
                        row.getString("resource_name"),
                        row.getInt("attempt"),
                        new Tuple(
                            row.getString("subject"),
                            row.getString("relation"),
                            row.getString("object"))))
            .list();
    due.forEach(entry -> attempt(handle, entry));
    return due.size();
  }

  private static void attempt(Handle handle, DueEntry entry) {
    if (entry.resourceName().startsWith("fail-")
        || (entry.resourceName().startsWith("flaky-") && entry.attempt() == 1)) {
      String status = entry.attempt() < MAX_ATTEMPTS ? "retrying" : "failed";
      endAttempt(handle, entry, status, "the resource's name requests a failure");
      return;
    }
    handle
        .createUpdate(WRITE_TUPLE)
        .bind("userId", entry.userId())
        .bindMethods("tuple", entry.tuple())
        .execute();
    endAttempt(handle, entry, "completed", "");
  }

  private static void endAttempt(Handle handle, DueEntry entry, String status, String error) {
    handle
        .createUpdate(END_ATTEMPT)
        .bind("id", entry.id())
        .bind("status", status)
        .bind("attempt", entry.attempt())
        .bind("error", error)
        .execute();
  }
}
