package io.github.grpcidempotency.example.demo;

import java.util.UUID;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** Counts rows past row-level security, as proof of what the answers say. */
final class Rows {
  private static final String PROJECTS =
      "SELECT count(*) FROM tenant.projects WHERE user_id = :userId AND name = :name";

  private static final String OUTBOX_ENTRIES =
      "SELECT count(*) FROM authz.outbox WHERE user_id = :userId AND resource_name = :name";

  private static final String TUPLES =
      """
      SELECT count(*)
      FROM authz.tuples AS t
      JOIN tenant.projects AS p ON t.object = 'project:' || p.id
      WHERE p.user_id = :userId AND p.name = :name
      """;

  private static final String RECORDED =
      """
      SELECT count(*) FROM idempotency.idempotency_keys
      WHERE user_id = :userId AND idempotency_key = :key AND completed IS NOT NULL
      """;

  private final Jdbi jdbi;

  Rows(DataSource superuser) {
    this.jdbi = Jdbi.create(superuser);
  }

  int projects(UUID user, String name) {
    return count(PROJECTS, user, "name", name);
  }

  int outboxEntries(UUID user, String name) {
    return count(OUTBOX_ENTRIES, user, "name", name);
  }

  int tuples(UUID user, String name) {
    return count(TUPLES, user, "name", name);
  }

  /** Counts the answers that are recorded for a key. */
  int recorded(UUID user, UUID key) {
    return count(RECORDED, user, "key", key.toString());
  }

  private int count(String sql, UUID user, String name, String value) {
    return jdbi.withHandle(
        handle ->
            handle
                .createQuery(sql)
                .bind("userId", user)
                .bind(name, value)
                .mapTo(Integer.class)
                .one());
  }
}
