package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.test.Program.INITDB;
import static io.github.grpcidempotency.test.Program.POSTGRES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.NeedsProgram;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the functions for operators and metrics read, on the embedded PostgreSQL and on the
 * installed one, with its own configuration, in which JIT may be on.
 */
class PlansTest {
  /** Rows in no order, as after many sweeps, of which a third has expired. */
  private static final String FILL =
      """
      INSERT INTO idempotency.idempotency_keys
        (id, idempotency_key, user_uuid, tenant, procedure, request_hash, hash_version, response_bytes,
         lease_expires, created, completed, expires)
      SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
             md5(n::text), md5((n % 100)::text)::uuid, CASE WHEN n % 1000 = 1 THEN 'acme' ELSE '' END, 'p', '\\x00', 1, '\\x00',
             now() - interval '1 day', now() - n * interval '1 ms', CASE WHEN n % 2500 <> 0 THEN now() END,
             now() + (n % 90000 - 30000) * interval '1 second'
        FROM generate_series(1, 90000) AS n
       ORDER BY md5(n::text);
      VACUUM ANALYZE idempotency.idempotency_keys;
      """;

  /** Every plan becomes a warning of its statement, also that of a statement within a function. */
  private static final String EXPLAINED =
      """
      LOAD 'auto_explain';
      SET auto_explain.log_min_duration = 0;
      SET auto_explain.log_nested_statements = on;
      SET auto_explain.log_analyze = on;
      SET auto_explain.log_timing = off;
      SET auto_explain.log_level = notice;
      """;

  private static final List<String> CALLS =
      List.of(
          "statistics()",
          "operator_find(page => 100)",
          "operator_find(of_procedure => 'none', page => 100)",
          "operator_find(states => '{stuck}', page => 100)",
          "operator_find(states => '{expired}', page => 100)",
          "operator_find(expiring_within => '1 hour', page => 100)",
          "operator_find(of_user => md5('7')::uuid, page => 50)",
          "operator_find(of_key => md5('7'))",
          "operator_is_running(md5('7'), NULL, NULL, md5('7')::uuid)",
          "operator_erase(md5('7')::uuid, NULL, NULL, 'ada', 'a test', true, NULL)",
          "operator_erase(NULL, 'acme', NULL, 'ada', 'a test', true, NULL)",
          "operator_audit(NULL, md5('7'), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 50)");

  /** What a page of a list may read. */
  private static final int MOST = 20_000;

  private static final Pattern READ =
      Pattern.compile("Scan.* on idempotency_keys.*actual rows=(\\d+)");

  @Test
  void aFunctionReadsABoundedPartOfTheTableWithoutJit(@TempDir Path directory) throws SQLException {
    check(RunbookServer.embedded(), directory);
  }

  @Test
  @NeedsProgram({INITDB, POSTGRES})
  void soItDoesOnTheInstalledPostgres(@TempDir Path directory) throws SQLException {
    check(RunbookServer.installed(), directory);
  }

  private static void check(RunbookServer server, Path directory) throws SQLException {
    Shop shop = new Shop(server, directory);
    shop.run(RunbookTest.SET_UP);
    try (Connection connection = shop.connect("superuser", "shop").getConnection();
        Statement statement = connection.createStatement()) {
      for (String each : FILL.split(";\n")) {
        statement.execute(each);
      }
      statement.execute(EXPLAINED);
      statement.execute(shop.mapped("SET SESSION AUTHORIZATION shop_operator"));
      for (String call : CALLS) {
        List<String> plans = plansOf(statement, "SELECT * FROM idempotency." + call);

        assertThat(plans).as(call).isNotEmpty().noneMatch(plan -> plan.contains("JIT:"));
        assertThat(plans.stream().flatMap(plan -> READ.matcher(plan).results()))
            .as(() -> call + "\n" + String.join("\n", plans))
            .allMatch(read -> Integer.parseInt(read.group(1)) <= MOST);
        assertThat(plans).as(call).noneMatch(plan -> plan.contains("Seq Scan on idempotency_keys"));
      }
    }
  }

  private static List<String> plansOf(Statement statement, String sql) throws SQLException {
    statement.execute(sql);
    List<String> plans = new ArrayList<>();
    for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
      plans.add(each.getMessage());
    }
    return plans;
  }
}
