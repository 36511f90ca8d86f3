package io.github.grpcidempotency.example.demo;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Query;

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

  private static final String IN_TABLE = "SELECT count(*) FROM <table> WHERE user_id = :userId";

  private static final String API_KEYS_WITH_HASH =
      "SELECT count(*) FROM tenant.api_keys WHERE token_sha256 = sha256(:token)";

  private static final String CONTAINING =
      """
      SELECT count(*) FROM idempotency.idempotency_keys
      WHERE position(:token IN response_bytes) > 0
      """;

  /** What Tink has sealed begins with a 1 and the key's id. */
  private static final String SEALED_BY =
      """
      SELECT count(*) FROM idempotency.idempotency_keys
      WHERE substring(response_bytes FROM 1 FOR 5) = '\\x01'::bytea || int4send(:key)
      """;

  private static final String USAGE_STATEMENTS =
      "SELECT count(*) FROM billing.usage_statements WHERE until = :until";

  private static final String DELIVERIES =
      """
      SELECT count(*)
      FROM tenant.webhook_deliveries AS d
      JOIN tenant.webhooks AS w ON w.id = d.webhook_id
      WHERE w.opaque_id = :webhookId
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

  /** Counts a user's rows of a table. */
  int in(String table, UUID user) {
    return count(query -> query.define("table", table).bind("userId", user), IN_TABLE);
  }

  int apiKeysWithHashOf(String token) {
    return count(query -> query.bind("token", bytes(token)), API_KEYS_WITH_HASH);
  }

  int recordsThatContain(String token) {
    return count(query -> query.bind("token", bytes(token)), CONTAINING);
  }

  int recordsSealedBy(int key) {
    return count(query -> query.bind("key", key), SEALED_BY);
  }

  int usageStatements(Instant until) {
    return count(query -> query.bind("until", until), USAGE_STATEMENTS);
  }

  int deliveries(String webhookId) {
    return count(query -> query.bind("webhookId", webhookId), DELIVERIES);
  }

  private static byte[] bytes(String token) {
    return token.getBytes(StandardCharsets.UTF_8);
  }

  private int count(UnaryOperator<Query> bindings, String sql) {
    return jdbi.withHandle(
        handle -> bindings.apply(handle.createQuery(sql)).mapTo(Integer.class).one());
  }

  private int count(String sql, UUID user, String name, String value) {
    return count(query -> query.bind("userId", user).bind(name, value), sql);
  }
}
