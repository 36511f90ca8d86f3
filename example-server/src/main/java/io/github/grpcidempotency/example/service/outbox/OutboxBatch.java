package io.github.grpcidempotency.example.service.outbox;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;

/**
 * One batch of due entries, done in one transaction. Rows that another worker holds are skipped,
 * and a worker that dies in the middle leaves its rows as they were.
 */
final class OutboxBatch {
  private static final int SIZE = 20;

  private static final String LOCK_DUE =
      """
      SELECT id, user_id, resource_name, attempts + 1 AS attempt, subject, relation, object
      FROM authz.outbox
      WHERE status IN ('pending', 'retrying') AND next_attempt <= now()
      ORDER BY next_attempt
      LIMIT :size
      FOR UPDATE SKIP LOCKED
      """;

  private static final String COMPLETE =
      """
      UPDATE authz.outbox
      SET status = 'completed', attempts = attempts + 1, last_error = NULL
      WHERE id = :id
      """;

  private static final String RETRY =
      """
      UPDATE authz.outbox
      SET status = 'retrying', attempts = attempts + 1, last_error = :error,
        next_attempt = now() + :pauseMillis * interval '1 millisecond'
      WHERE id = :id
      """;

  private static final String FAIL =
      """
      UPDATE authz.outbox
      SET status = 'failed', attempts = attempts + 1, last_error = :error
      WHERE id = :id
      """;

  private final Handle handle;
  private final RetryPolicy retryPolicy;

  OutboxBatch(Handle handle, RetryPolicy retryPolicy) {
    this.handle = handle;
    this.retryPolicy = retryPolicy;
  }

  /** Does what is due, and returns whether more may be. */
  boolean drain() {
    List<DueEntry> due = lockDue();
    due.forEach(this::attempt);
    return due.size() == SIZE;
  }

  private List<DueEntry> lockDue() {
    return handle
        .createQuery(LOCK_DUE)
        .bind("size", SIZE)
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
  }

  /** A failing entry takes back its own writes only, hence the savepoint. */
  private void attempt(DueEntry entry) {
    handle.savepoint("entry");
    try {
      TupleStore.write(handle, entry);
      handle.releaseSavepoint("entry");
      complete(entry);
    } catch (TupleRefused | JdbiException e) {
      handle.rollbackToSavepoint("entry");
      fail(entry, String.valueOf(e.getMessage()));
    }
  }

  private void complete(DueEntry entry) {
    handle.createUpdate(COMPLETE).bind("id", entry.id()).execute();
  }

  private void fail(DueEntry entry, String error) {
    if (retryPolicy.isLast(entry.attempt())) {
      handle.createUpdate(FAIL).bind("id", entry.id()).bind("error", error).execute();
      return;
    }
    Duration pause = retryPolicy.pauseAfter(entry.attempt());
    handle
        .createUpdate(RETRY)
        .bind("id", entry.id())
        .bind("error", error)
        .bind("pauseMillis", pause.toMillis())
        .execute();
  }
}
