package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.cli.Shell.Result;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What can be said of a command line without a database. */
class OptionsTest {
  private static final String ID = "019303cd-3f00-7000-8000-000000000001";

  private final Shell nowhere = Shell.with(Map.of());
  private final Shell unreachable =
      Shell.with(Map.of("IDEMPOTENCY_URL", "jdbc:postgresql://127.0.0.1:1/orders"));

  @Test
  void everyCommandHasHelpWithExamples() {
    for (CommandLine command : commands().getSubcommands().values()) {
      String name = command.getCommandName();
      Result help = nowhere.run(name, "--help").expect(ExitCode.OK);

      assertThat(help.out()).contains("Usage: idempotency " + name, "Examples:");
      assertThat(help.out().replaceFirst("(?s).*Examples:", "")).contains("  idempotency " + name);
      assertThat(help.err()).isEmpty();
    }
  }

  @Test
  void noLineOfHelpIsWiderThanATerminal() {
    for (CommandLine command : commands().getSubcommands().values()) {
      assertThat(command.getUsageMessage().lines()).allMatch(line -> line.length() <= 100);
    }
  }

  @Test
  void theHelpNamesCommandsAndExitCodes() {
    String help = nowhere.run("--help").expect(ExitCode.OK).out();

    assertThat(help).contains(commands().getSubcommands().keySet());
    for (ExitCode code : ExitCode.values()) {
      assertThat(help).contains("  %d  %s".formatted(code.code(), code.meaning()));
    }
  }

  @Test
  void noOptionTakesAPassword() {
    for (CommandLine command : commands().getSubcommands().values()) {
      assertThat(command.getCommandSpec().optionsMap().keySet())
          .noneMatch(option -> option.contains("password"));
    }
  }

  @Test
  void theVersionIsThatOfTheBuild() {
    assertThat(nowhere.run("--version").expect(ExitCode.OK).out())
        .matches("idempotency \\d+\\.\\d+\\.\\d+\\S*\\R");
  }

  @Test
  void wrongUseIsExplainedInTwoLinesOnTheErrorOutput() {
    for (String[] wrong :
        new String[][] {
          {},
          {"shwo"},
          {"list", "--stuk"},
          {"list", "--limit", "many"},
          {"list", "--older-than", "soon"},
          {"free", "order-4711"},
          {"forget"}
        }) {
      Result result = unreachable.run(wrong).expect(ExitCode.USAGE);
      assertThat(result.out()).isEmpty();
      assertThat(result.err().lines()).hasSizeBetween(1, 2);
    }
  }

  @Test
  void valuesOutOfRangeAreRefusedBeforeTheDatabaseIsUsed() {
    unreachable.run("list", "--limit", "0").expect(ExitCode.USAGE);
    unreachable.run("list", "--limit", "1001").expect(ExitCode.USAGE);
    unreachable.run("list", "--schema", "a;b").expect(ExitCode.USAGE);
    unreachable.run("audit", "--limit", "1001").expect(ExitCode.USAGE);
    unreachable.run("migrate", "--after", "3").expect(ExitCode.USAGE);
    unreachable.run("migrate", "--sql", "--after", "99").expect(ExitCode.USAGE);
    unreachable.run("check", "--descriptors", "no-such-file").expect(ExitCode.USAGE);
    unreachable.run("show", "-").expect(ExitCode.USAGE);
  }

  @Test
  void withoutADatabaseNothingWorks() {
    assertThat(nowhere.run("list").expect(ExitCode.USAGE).err()).contains("--url");
    assertThat(unreachable.run("list").expect(ExitCode.UNREACHABLE).err())
        .contains("cannot be reached");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://127.0.0.1:1/orders?user=ada&password=swordfish",
        "postgres://ada:swordfish@127.0.0.1:1/orders"
      })
  void aPasswordOnTheCommandLineIsRefusedAndNotRepeated(String url) {
    Result refused = nowhere.run("list", "--url", url).expect(ExitCode.USAGE);

    assertThat(refused.err()).contains("IDEMPOTENCY_PASSWORD").doesNotContain("swordfish");
    nowhere.and("IDEMPOTENCY_URL", url).run("list").expect(ExitCode.UNREACHABLE);
  }

  @Test
  void anActNeedsAReason() {
    for (String act : new String[] {"free", "forget"}) {
      assertThat(unreachable.run(act, ID).expect(ExitCode.NO_REASON).err()).contains("--reason");
      unreachable.run(act, ID, "--reason", " ").expect(ExitCode.NO_REASON);
      unreachable.run(act, ID, "--reason", "r".repeat(1_001)).expect(ExitCode.USAGE);
    }
    unreachable.run("sweep").expect(ExitCode.NO_REASON);
    unreachable.run("show", ID, "--contents").expect(ExitCode.NO_REASON);
  }

  @Test
  void onATerminalTheCommandPromptsForTheReason() {
    assertThat(unreachable.typing("it is late").run("free", ID).expect(ExitCode.UNREACHABLE).err())
        .contains("Reason:");
    unreachable.typing("").run("free", ID).expect(ExitCode.NO_REASON);
    unreachable.typing().run("free", ID).expect(ExitCode.NO_REASON);
  }

  @Test
  void toFreeALiveReservationTheIdMustBeTypedOrYesBeGiven() {
    String[] free = {"free", ID, "--even-if-live", "--reason", "r"};

    unreachable.run(free).expect(ExitCode.REFUSED);
    unreachable.typing("019303cd").run(free).expect(ExitCode.REFUSED);
    unreachable.typing(ID).run(free).expect(ExitCode.UNREACHABLE);
    unreachable
        .run("free", ID, "--even-if-live", "--yes", "--reason", "r")
        .expect(ExitCode.UNREACHABLE);
  }

  @Test
  void theSqlIsPrintedWithoutADatabase() {
    String sql = nowhere.run("migrate", "--sql").expect(ExitCode.OK).out();

    assertThat(sql)
        .startsWith("BEGIN;")
        .contains("CREATE SCHEMA \"idempotency\";")
        .endsWith("COMMIT;\n");
    assertThat(nowhere.run("migrate", "--sql", "--schema", "ours").out())
        .contains("CREATE TABLE \"ours\".idempotency_keys")
        .doesNotContain("${", "\"idempotency\"");
    assertThat(nowhere.run("migrate", "--sql", "--after", "2").expect(ExitCode.OK).out())
        .contains("operator_find")
        .doesNotContain("CREATE SCHEMA", "CREATE TABLE \"idempotency\".idempotency_keys");
  }

  private CommandLine commands() {
    return Program.commandLine(nowhere.surroundings());
  }
}
