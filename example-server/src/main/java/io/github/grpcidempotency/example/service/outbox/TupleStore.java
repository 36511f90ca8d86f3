package io.github.grpcidempotency.example.service.outbox;

import org.jdbi.v3.core.Handle;

/**
 * Stands in for an authorization service, and fails on demand: a resource whose name starts with
 * {@code fail-} always fails, one whose name starts with {@code flaky-} fails the first time.
 */
final class TupleStore {
  private static final String WRITE =
      """
      INSERT INTO authz.tuples (user_id, subject, relation, object)
      VALUES (:userId, :tuple.subject, :tuple.relation, :tuple.object)
      ON CONFLICT (subject, relation, object) DO NOTHING
      """;

  private TupleStore() {}

  /**
   * Writes the tuple of an entry; writing it again changes nothing.
   *
   * @throws IllegalStateException if the name asks for it
   */
  static void write(Handle handle, OutboxBatch.DueEntry entry) {
    if (entry.resourceName().startsWith("fail-")) {
      throw new IllegalStateException("the name asks for a failure");
    }
    if (entry.resourceName().startsWith("flaky-") && entry.attempt() == 1) {
      throw new IllegalStateException("the name asks for a failure at first");
    }
    handle
        .createUpdate(WRITE)
        .bind("userId", entry.userId())
        .bindMethods("tuple", entry.tuple())
        .execute();
  }
}
