package io.github.grpcidempotency.example.service.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

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

  private static final String END_ATTEMPT =
      """
      UPDATE authz.outbox
      SET status = :status, attempts = attempts + 1, last_error = :error,
        next_attempt = now() + :pauseMillis * interval '1 millisecond'
      WHERE id = :id
      """;

  /**
   * An entry that is locked.
   *
   * @param attempt which attempt this is, from 1 on
   */
  record DueEntry(long id, UUID userId, String resourceName, int attempt, Tuple tuple) {}

  private final Handle handle;
  private final RetryPolicy retryPolicy;

  OutboxBatch(Handle handle, RetryPolicy retryPolicy) {
    this.handle = handle;
    this.retryPolicy = retryPolicy;
  }

  /** Processes the entries that are due, and returns whether there may be more. */
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

  /** A failing entry rolls back only its own writes, hence the savepoint. */
  private void attempt(DueEntry entry) {
    handle.savepoint("entry");
    try {
      TupleStore.write(handle, entry);
      handle.releaseSavepoint("entry");
      endAttempt(entry, "completed", Optional.empty(), Duration.ZERO);
    } catch (RuntimeException e) {
      handle.rollbackToSavepoint("entry");
      boolean last = retryPolicy.isLast(entry.attempt());
      endAttempt(
          entry,
          last ? "failed" : "retrying",
          Optional.of(String.valueOf(e.getMessage())),
          retryPolicy.pauseAfter(entry.attempt()));
    }
  }

  private void endAttempt(DueEntry entry, String status, Optional<String> error, Duration pause) {
    handle
        .createUpdate(END_ATTEMPT)
        .bind("id", entry.id())
        .bind("status", status)
        .bind("error", error)
        .bind("pauseMillis", pause.toMillis())
        .execute();
  }
}
