package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.procedure.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.PROCESSING;

import io.github.grpcidempotency.postgres.OutboxStatusResolver;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.StatusResolver;

/** Maps the words of {@code authz.outbox} to the statuses for clients. */
final class OutboxStatus {
  private OutboxStatus() {}

  /** The column is named after the resource type, as in the library's table: {@code project_id}. */
  static StatusResolver of(ResourceType type) {
    String latestEntry =
        """
        SELECT status FROM authz.outbox
        WHERE %s = :resource_id
        ORDER BY id DESC
        LIMIT 1
        """
            .formatted(type.column());
    return OutboxStatusResolver.query(latestEntry)
        .map(PROCESSING, "pending", "retrying")
        .map(COMPLETED, "completed")
        .map(FAILED, "failed")
        .build();
  }
}
