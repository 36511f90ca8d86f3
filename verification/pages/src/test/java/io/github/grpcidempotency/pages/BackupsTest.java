package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.test.Program.INITDB;
import static io.github.grpcidempotency.test.Program.PG_DUMP;
import static io.github.grpcidempotency.test.Program.PG_RESTORE;
import static io.github.grpcidempotency.test.Program.POSTGRES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.test.NeedsProgram;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code docs/operations/maintenance.md} says: a restored database is like the one that was
 * dumped.
 */
@NeedsProgram({INITDB, PG_DUMP, PG_RESTORE, POSTGRES})
class BackupsTest {
  /** Everything that protects the records. */
  private static final String CATALOG =
      """
      SELECT format('table %s %s %s %s %s', relname, relkind, relrowsecurity, relforcerowsecurity, relowner::regrole) AS thing,
             CASE WHEN relkind = 'r' THEN COALESCE(relacl, acldefault('r', relowner)) END AS acl
        FROM pg_class
       WHERE relnamespace IN ('idempotency'::regnamespace, 'app'::regnamespace)
      UNION ALL
      SELECT format('function %s %s %s %s %s', oid::regprocedure, prosecdef, proconfig, md5(prosrc), proowner::regrole), COALESCE(proacl, acldefault('f', proowner))
        FROM pg_proc
       WHERE pronamespace IN ('idempotency'::regnamespace, 'app'::regnamespace)
      UNION ALL
      SELECT format('policy %s', p.*), NULL
        FROM pg_policies AS p
       WHERE schemaname IN ('idempotency', 'app')
      UNION ALL
      SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)), NULL
        FROM pg_constraint
       WHERE connamespace IN ('idempotency'::regnamespace, 'app'::regnamespace)
      UNION ALL
      SELECT format('index %s', indexdef), NULL
        FROM pg_indexes
       WHERE schemaname IN ('idempotency', 'app')
      UNION ALL
      SELECT pg_get_triggerdef(oid), NULL
        FROM pg_trigger
       WHERE NOT tgisinternal
      UNION ALL
      SELECT format('schema %s', nspname), nspacl
        FROM pg_namespace
       WHERE nspname IN ('idempotency', 'app')
      """;

  /** The order of grants says nothing. */
  private static final String SORTED =
      "SELECT thing || ' ' || ARRAY(SELECT a::text FROM unnest(acl) AS a ORDER BY 1)::text FROM (%s) AS c ORDER BY 1";

  @Test
  void aRestoredDatabaseProtectsAndReplaysAsBefore(@TempDir Path directory) throws SQLException {
    Shop shop = new Shop(RunbookServer.installed(), directory);
    shop.run(RunbookTest.SET_UP);
    Records.make(shop);
    Page whole = Page.read("operations/maintenance.md").section("Backups and restores");
    int end = whole.text().lastIndexOf("```sql"); // the last block deletes all records
    assertThat(whole.text().substring(end)).contains("TRUNCATE");

    List<String> said = shop.run(new Page("backups", whole.text().substring(0, end)));

    assertThat(catalog(shop, "shop_restored"))
        .hasSizeGreaterThan(50)
        .containsExactlyInAnyOrderElementsOf(catalog(shop, "shop"));
    assertThat(Records.replayed(shop.connect("shop_app", "shop_restored")))
        .get()
        .isInstanceOfSatisfying(
            ClaimResult.Recorded.class,
            recorded ->
                assertThat(recorded.outcome())
                    .isEqualTo(
                        new RecordedOutcome.Response(Records.ANSWER, Optional.of(Records.ORDER))));
    assertThat(said.subList(said.size() - 3, said.size()))
        .as("list, free --dry-run, free")
        .allSatisfy(each -> assertThat(each).contains(Records.STUCK.toString()));

    shop.run(new Page("backups", whole.text().substring(end)));
    assertThat(Records.replayed(shop.connect("shop_app", "shop_restored"))).isEmpty();
  }

  private static List<String> catalog(Shop shop, String database) throws SQLException {
    List<String> things = new ArrayList<>();
    try (Connection connection = shop.connect("superuser", database).getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(SORTED.formatted(CATALOG))) {
      while (rows.next()) {
        things.add(rows.getString(1));
      }
    }
    return things;
  }
}
