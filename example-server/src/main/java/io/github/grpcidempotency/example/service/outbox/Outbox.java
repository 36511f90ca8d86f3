package io.github.grpcidempotency.example.service.outbox;

import java.time.Duration;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Writes to {@code authz.outbox}.
 *
 * @param delay the delay of an entry, so that a person can see {@code processing}
 */
public record Outbox(Duration delay) {
  private static final String ENQUEUE =
      """
      INSERT INTO authz.outbox (
        user_id, resource_id, resource_name, subject, relation, object, next_attempt
      )
      VALUES (
        :userId, :entry.resourceId, :entry.name,
        :entry.tuple.subject, :entry.tuple.relation, :entry.tuple.object,
        now() + :delayMillis * interval '1 millisecond'
      )
      """;

  /** Writes an entry in the handle's transaction. */
  public void enqueue(Handle handle, UUID userId, OutboxEntry entry) {
    handle
        .createUpdate(ENQUEUE)
        .bind("userId", userId)
        .bindMethods("entry", entry)
        .bind("delayMillis", delay.toMillis())
        .execute();
  }
}
