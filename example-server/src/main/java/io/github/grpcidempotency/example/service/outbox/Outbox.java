package io.github.grpcidempotency.example.service.outbox;

import java.time.Duration;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** The writing end of {@code authz.outbox}. */
public final class Outbox {
  private static final String ENQUEUE =
      """
      INSERT INTO authz.outbox (
        user_id, resource_name, subject, relation, object, next_attempt,
        project_id, project_member_id, cluster_id, node_pool_id,
        install_id, namespace_id, api_key_id, invite_id, webhook_id, webhook_delivery_id
      )
      VALUES (
        :userId, :name, :tuple.subject, :tuple.relation, :tuple.object,
        now() + :delayMillis * interval '1 millisecond',
        CASE :type WHEN 'project' THEN :id END,
        CASE :type WHEN 'project_member' THEN :id END,
        CASE :type WHEN 'cluster' THEN :id END,
        CASE :type WHEN 'node_pool' THEN :id END,
        CASE :type WHEN 'install' THEN :id END,
        CASE :type WHEN 'namespace' THEN :id END,
        CASE :type WHEN 'api_key' THEN :id END,
        CASE :type WHEN 'invite' THEN :id END,
        CASE :type WHEN 'webhook' THEN :id END,
        CASE :type WHEN 'webhook_delivery' THEN :id END
      )
      """;

  private final Duration delay;

  /**
   * Makes an outbox whose entries are due after a while.
   *
   * @param delay how long an entry waits, so that a human can see {@code processing}
   */
  public Outbox(Duration delay) {
    this.delay = delay;
  }

  /** Writes an entry in the handle's transaction. */
  public void enqueue(Handle handle, UUID userId, OutboxEntry entry) {
    handle
        .createUpdate(ENQUEUE)
        .bind("userId", userId)
        .bind("type", entry.type().name())
        .bind("id", entry.resourceId())
        .bind("name", entry.name())
        .bindMethods("tuple", entry.tuple())
        .bind("delayMillis", delay.toMillis())
        .execute();
  }
}
