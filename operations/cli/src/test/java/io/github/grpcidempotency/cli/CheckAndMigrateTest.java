package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.cli.Shell.Result;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
          .contains("not created by Flyway", "at version 3 already, so nothing is missing");
      Orders.run(old.owner(), "SELECT idempotency.grant_to('orders_app')");
      as(old, Orders.APP).run("check").expect(ExitCode.OK);

      said = as(old, Orders.OPERATOR).run("list").expect(ExitCode.NO_RIGHT).err();
      Matcher command = Pattern.compile("call (SELECT \\S+) as (\\w+)").matcher(said);
      assertThat(command.find()).isTrue();
      Orders.run(old.owner(), command.group(1));
      as(old, Orders.OPERATOR).run("list").expect(ExitCode.OK);
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
