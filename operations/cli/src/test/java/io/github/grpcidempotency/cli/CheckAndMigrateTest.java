package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.cli.Shell.Result;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Making a schema, and proving that it can be used. */
class CheckAndMigrateTest {
  @RegisterExtension static final PostgresFixture migrated = Orders.create();

  @Test
  void checkRunsTheStartUpCheck() {
    Result sound = as(migrated, Orders.APP).run("check").expect(ExitCode.OK);

    assertThat(sound.out()).contains("No problems", Orders.APP, "a trial call");
    assertThat(as(migrated, Orders.OPERATOR).run("list").expect(ExitCode.OK).out()).isEmpty();
  }

  @Test
  void checkListsEveryProblemOfARole() {
    Result wrong = as(migrated, Orders.OWNER).run("check").expect(ExitCode.NEGATIVE);

    assertThat(wrong.out()).contains("owns idempotency.idempotency_keys");
    assertThat(wrong.err()).contains("problems found: ");
    assertThat(as(migrated, Orders.STRANGER).run("check").expect(ExitCode.NEGATIVE).out())
        .contains("grant_to('orders_stranger')");
  }

  @Test
  void checkAsAnOperatorsRoleNamesTheApplicationsRoleInsteadOfAGrant() {
    Result wrong = as(migrated, Orders.OPERATOR).run("check").expect(ExitCode.NEGATIVE);

    assertThat(wrong.out())
        .contains("shop_operator is an operator's", "as the application's role, such as orders_app")
        .doesNotContain("grant_to");
    as(migrated, Orders.OPERATOR).run("check", "--user", "orders_app").expect(ExitCode.OK);
  }

  @Test
  void checkNamesEachMissingRightAndTheCommandThatGrantsIt() throws Exception {
    for (String right :
        List.of(
            "EXECUTE ON FUNCTION idempotency.sweep_expired",
            "INSERT ON idempotency.idempotency_waits")) {
      Orders.run(migrated.owner(), "REVOKE %s FROM orders_app".formatted(right));

      String said = as(migrated, Orders.APP).run("check").expect(ExitCode.NEGATIVE).out();

      assertThat(said)
          .contains("lacks " + right.replace("ON FUNCTION", "on").replace(" ON ", " on ") + ";");
      Matcher command = Pattern.compile("call (SELECT \\S+) as (\\w+)").matcher(said);
      assertThat(command.find()).isTrue();
      assertThat(command.group(2)).isEqualTo(Orders.OWNER);
      Orders.run(migrated.owner(), command.group(1));
      as(migrated, Orders.APP).run("check").expect(ExitCode.OK);
    }
  }

  @Test
  void anOlderSchemaIsMendedByTheCommandsInTheMessages() throws Exception {
    try (PostgresFixture old = Orders.unmigrated()) {
      Shell owner = as(old, Orders.OWNER);
      String sql = owner.run("migrate", "--sql").expect(ExitCode.OK).out();
      Orders.run(old.owner(), sql.replaceFirst("(?s)-- V3__operators.sql.*", "COMMIT;"));

      String said = as(old, Orders.OPERATOR).run("list").expect(ExitCode.WRONG_SCHEMA).err();
      assertThat(said)
          .contains("run idempotency migrate --schema idempotency --user orders_owner")
          .doesNotContain("grant_operator_to");
      said =
          owner
              .run("migrate", "--schema", "idempotency", "--user", "orders_owner")
              .expect(ExitCode.WRONG_SCHEMA)
              .err();
      assertThat(said).contains("idempotency migrate --sql --after 2 --schema idempotency");
      Orders.run(
          old.owner(),
          owner
              .run("migrate", "--sql", "--after", "2", "--schema", "idempotency")
              .expect(ExitCode.OK)
              .out());
      assertThat(owner.run("migrate").expect(ExitCode.WRONG_SCHEMA).err())
          .contains("not created by Flyway", "at version 3 already");
      Orders.run(old.owner(), "SELECT idempotency.grant_to('orders_app')");
      as(old, Orders.APP).run("check").expect(ExitCode.OK);

      said = as(old, Orders.OPERATOR).run("list").expect(ExitCode.NO_RIGHT).err();
      Matcher command = Pattern.compile("call (SELECT \\S+) as (\\w+)").matcher(said);
      assertThat(command.find()).isTrue();
      Orders.run(old.owner(), command.group(1));
      as(old, Orders.OPERATOR).run("list").expect(ExitCode.OK);
    }
  }

  /** What is dropped, or changed, in a schema that was migrated. */
  static List<String> damages() throws Exception {
    List<String> damages =
        new ArrayList<>(
            List.of(
                "DROP TABLE idempotency.idempotency_keys CASCADE",
                "DROP TABLE idempotency.idempotency_waits CASCADE",
                "DROP TABLE idempotency.idempotency_facts CASCADE",
                "DELETE FROM idempotency.idempotency_facts WHERE name = 'version'",
                "DROP POLICY own_rows ON idempotency.idempotency_keys",
                "DROP POLICY rows_of_batch ON idempotency.idempotency_keys",
                "DROP POLICY maintenance ON idempotency.idempotency_keys",
                "ALTER POLICY maintenance ON idempotency.idempotency_keys TO PUBLIC",
                "ALTER TABLE idempotency.idempotency_keys DISABLE ROW LEVEL SECURITY",
                "ALTER TABLE idempotency.idempotency_keys NO FORCE ROW LEVEL SECURITY",
                "ALTER TABLE idempotency.idempotency_keys DROP CONSTRAINT idempotency_keys_key",
                "ALTER FUNCTION idempotency.renew_leases SECURITY INVOKER",
                "CREATE OR REPLACE FUNCTION idempotency.refuse_commit(code text) RETURNS void"
                    + " LANGUAGE sql AS 'SELECT'"));
    for (String function :
        List.of(
            "current_user_id",
            "current_user_ids",
            "renew_leases",
            "in_flight",
            "sweep_expired",
            "answer_beginnings",
            "answers_after",
            "refer_if_it_stands",
            "refuse_claim",
            "refuse_commit",
            "grant_to")) {
      damages.add("DROP FUNCTION idempotency." + function + " CASCADE");
    }
    return damages;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DROP TABLE idempotency.idempotency_keys CASCADE",
        "DELETE FROM idempotency.idempotency_facts WHERE name = 'version'",
        "DROP POLICY own_rows ON idempotency.idempotency_keys",
        "ALTER TABLE idempotency.idempotency_keys NO FORCE ROW LEVEL SECURITY",
        "DROP FUNCTION idempotency.renew_leases CASCADE"
      })
  void aStateThatCheckReportsIsLeftByTheCommandsInItsMessage(String damage) throws Exception {
    assertWayOut(damage);
  }

  @Tag("torture")
  @ParameterizedTest
  @MethodSource("damages")
  void everyStateThatCheckReportsIsLeftByTheCommandsInItsMessage(String damage) throws Exception {
    assertWayOut(damage);
  }

  private static void assertWayOut(String damage) throws Exception {
    try (PostgresFixture shop = Orders.unmigrated()) {
      Shell owner = as(shop, Orders.OWNER);
      owner.run("migrate").expect(ExitCode.OK);
      Orders.run(shop.owner(), "SELECT idempotency.grant_to('orders_app')");
      as(shop, Orders.APP).run("check").expect(ExitCode.OK);
      Orders.run(shop.owner(), damage);

      String said = as(shop, Orders.APP).run("check").expect(ExitCode.NEGATIVE).out();
      Matcher command =
          Pattern.compile(
                  "call ((?:ALTER|SELECT) .+?)(?: as (?:its owner|\\w+)|$)", Pattern.MULTILINE)
              .matcher(said);
      assertThat(command.find()).as(said).isTrue();
      Orders.run(shop.owner(), command.group(1));
      owner.run("migrate").expect(ExitCode.OK);
      Orders.run(shop.owner(), "SELECT idempotency.grant_to('orders_app')");

      as(shop, Orders.APP).run("check").expect(ExitCode.OK);
    }
  }

  @Test
  void migrateNamesWhatIsMissingInsteadOfTheVersion() throws Exception {
    try (PostgresFixture shop = Orders.unmigrated()) {
      Shell owner = as(shop, Orders.OWNER);
      owner.run("migrate").expect(ExitCode.OK);
      for (String dropped :
          List.of("FUNCTION idempotency.operator_find", "TABLE idempotency.idempotency_keys")) {
        Orders.run(shop.owner(), "DROP %s CASCADE".formatted(dropped));

        assertThat(owner.run("migrate").expect(ExitCode.WRONG_SCHEMA).err())
            .contains("lacks the", dropped.replaceFirst(".*\\.", ""), "call ALTER SCHEMA");
      }
    }
  }

  @Test
  void migratePrintsItsResult() {
    try (PostgresFixture empty = Orders.unmigrated()) {
      Shell owner = as(empty, Orders.OWNER);

      as(empty, Orders.STRANGER).run("migrate").expect(ExitCode.NO_RIGHT);
      assertThat(as(empty, Orders.APP).run("check").expect(ExitCode.NEGATIVE).out())
          .contains("does not exist");
      assertThat(owner.run("migrate").expect(ExitCode.OK).out()).contains("applied: 1, 2, 3");
      assertThat(owner.run("migrate").expect(ExitCode.OK).out()).contains("Nothing was changed");
      assertThat(owner.run("migrate", "--schema", "ours").expect(ExitCode.OK).out())
          .contains("schema ours", "applied: 1, 2, 3");
    }
  }

  @Test
  void theFunctionsForPartitionsAreCreatedOnRequest() throws Exception {
    try (PostgresFixture empty = Orders.unmigrated()) {
      Shell owner = as(empty, Orders.OWNER);
      owner.run("migrate", "--partitions").expect(ExitCode.OK);
      Orders.run(empty.owner(), "SELECT idempotency.partition_keys(2)");
      Orders.run(empty.owner(), "SELECT idempotency.grant_to('orders_app')");

      as(empty, Orders.APP).run("check").expect(ExitCode.OK);
      String script = owner.run("migrate", "--sql", "--partitions").expect(ExitCode.OK).out();
      assertThat(script).contains("move_to_partitions").doesNotContain("CREATE SCHEMA");
      Orders.run(empty.owner(), script);
    }
  }

  private static Shell as(PostgresFixture database, String role) {
    return Shell.with(Map.of("IDEMPOTENCY_URL", Orders.url(database), "IDEMPOTENCY_USER", role));
  }
}
