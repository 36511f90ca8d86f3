package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;

import io.github.grpcidempotency.resource.OutboxQuery;

/** Maps the values of {@code authz.outbox} to the statuses for clients. */
final class OutboxStatus {
  /** The status of the latest entry of a resource. */
  static final OutboxQuery LATEST =
      OutboxQuery.of(
              """
              SELECT status FROM authz.outbox
              WHERE resource_id = :resource_id
              ORDER BY id DESC
              LIMIT 1
              """)
          .map(PROCESSING, "pending", "retrying")
          .map(COMPLETED, "completed")
          .map(FAILED, "failed")
          .build();

  private OutboxStatus() {}
}
