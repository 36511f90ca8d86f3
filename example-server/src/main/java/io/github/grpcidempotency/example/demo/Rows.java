package io.github.grpcidempotency.example.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** Counts rows without row-level security, as proof of what the answers say. */
record Rows(Jdbi jdbi) {

  int projects(UUID user, String name) {
    return count("SELECT count(*) FROM tenant.projects WHERE user_id = ? AND name = ?", user, name);
  }

  int clusters(UUID user, String name) {
    return count("SELECT count(*) FROM tenant.clusters WHERE user_id = ? AND name = ?", user, name);
  }

  int outboxEntries(UUID user, String name) {
    return count(
        "SELECT count(*) FROM authz.outbox WHERE user_id = ? AND resource_name = ?", user, name);
  }

  int tuples(UUID user, String name) {
    return count(
        """
        SELECT count(*)
        FROM authz.tuples AS t
        JOIN tenant.projects AS p ON t.object = 'project:' || p.id
        WHERE p.user_id = ? AND p.name = ?
        """,
        user,
        name);
  }

  /** Counts a user's rows of a table. */
  int in(String table, UUID user) {
    return jdbi.withHandle(
        handle ->
            handle
                .select("SELECT count(*) FROM <table> WHERE user_id = ?", user)
                .define("table", table)
                .mapTo(Integer.class)
                .one());
  }

  /** Counts the answers that are recorded for a key. */
  int recorded(UUID user, UUID key) {
    return count(
        """
        SELECT count(*) FROM idempotency.idempotency_keys
        WHERE user_id = ? AND idempotency_key = ? AND completed IS NOT NULL
        """,
        user,
        key.toString());
  }

  int recordsThatContain(String token) {
    return count(
        "SELECT count(*) FROM idempotency.idempotency_keys WHERE position(? IN response_bytes) > 0",
        (Object) token.getBytes(UTF_8));
  }

  /** Counts the records sealed by a key: what Tink has sealed begins with a 1 and the key's id. */
  int recordsSealedBy(int key) {
    return count(
        """
        SELECT count(*) FROM idempotency.idempotency_keys
        WHERE substring(response_bytes FROM 1 FOR 5) = '\\x01'::bytea || int4send(?)
        """,
        key);
  }

  int apiKeysWithHashOf(String token) {
    return count(
        "SELECT count(*) FROM tenant.api_keys WHERE token_sha256 = sha256(?)",
        (Object) token.getBytes(UTF_8));
  }

  int usageStatements(Instant until) {
    return count("SELECT count(*) FROM billing.usage_statements WHERE until = ?", until);
  }

  int deliveries(String webhookId) {
    return count(
        """
        SELECT count(*)
        FROM tenant.webhook_deliveries AS d
        JOIN tenant.webhooks AS w ON w.id = d.webhook_id
        WHERE w.opaque_id = ?
        """,
        webhookId);
  }

  private int count(String sql, Object... values) {
    return jdbi.withHandle(handle -> handle.select(sql, values).mapTo(Integer.class).one());
  }
}
