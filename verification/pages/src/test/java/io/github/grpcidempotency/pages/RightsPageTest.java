package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of {@code docs/operations/rights.md} is what the catalog says. */
class RightsPageTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)` \\|(.*)\\|$");
  private static final List<String> ROLES =
      List.of("shop_owner", "shop_app", "shop_operator", "shop_auditor", "shop_backup");

  private static final List<String> FOR_THE_OWNER_ONLY = List.of("owns", "–", "–", "–", "–");

  /** The rights of one role, by object. What the owner may do, it may do because it owns. */
  private static final String RIGHTS =
      """
      SELECT c.relname AS object,
             c.relowner::regrole::text AS owner,
             array_to_string(ARRAY(
               SELECT right_ FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
                        AS right_
                WHERE has_table_privilege('%1$s', c.oid, right_)), ', ') AS rights
        FROM pg_class AS c
       WHERE c.relnamespace = 'idempotency'::regnamespace
         AND c.relkind = 'r'
      UNION ALL
      SELECT p.proname, p.proowner::regrole::text,
             CASE WHEN has_function_privilege('%1$s', p.oid, 'EXECUTE') THEN 'EXECUTE' ELSE '' END
        FROM pg_proc AS p
       WHERE p.pronamespace = 'idempotency'::regnamespace
      """;

  @Test
  void theTableOfRightsEqualsTheCatalog(@TempDir Path directory) throws SQLException {
    Shop shop = new Shop(RunbookServer.embedded(), directory);
    shop.run(RunbookTest.SET_UP);
    Map<String, List<String>> catalog = new TreeMap<>();
    for (String role : ROLES) {
      rights(shop, role)
          .forEach((object, right) -> catalog.merge(object, List.of(right), RightsPageTest::and));
    }

    catalog.values().removeIf(FOR_THE_OWNER_ONLY::equals); // which the page says of all others
    assertThat(documented()).isEqualTo(catalog);
  }

  private static Map<String, List<String>> documented() {
    Map<String, List<String>> rows = new TreeMap<>();
    for (MatchResult row :
        ROW.matcher(Page.read("operations/rights.md").text()).results().toList()) {
      rows.put(row.group(1), Arrays.stream(row.group(2).split("\\|")).map(String::strip).toList());
    }
    return rows;
  }

  private static Map<String, String> rights(Shop shop, String role) throws SQLException {
    Map<String, String> rights = new TreeMap<>();
    try (Connection connection = shop.connect("superuser", "shop").getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(RIGHTS.formatted(shop.mapped(role)))) {
      while (rows.next()) {
        String said = rows.getString("rights");
        boolean owns = rows.getString("owner").equals(shop.mapped(role));
        rights.put(rows.getString("object"), owns ? "owns" : said.isEmpty() ? "–" : said);
      }
    }
    return rights;
  }

  private static List<String> and(List<String> first, List<String> second) {
    return java.util.stream.Stream.concat(first.stream(), second.stream()).toList();
  }
}
