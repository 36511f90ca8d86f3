package io.github.grpcidempotency.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.cli.Shell.Result;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import picocli.CommandLine;

/**
 * The reference page says what the program says. Where it does not, the page as it should be is
 * left in {@code target/command-line.md}.
 */
class PageTest {
  @RegisterExtension static final PostgresFixture database = Orders.create();

  private static final Path PAGE = RepositoryRoot.resolve("docs/reference/command-line.md");
  private static final Pattern SESSION =
      Pattern.compile("(?ms)^```console\\R\\$ (.*?)\\R(.*?)^```$");
  private static final Pattern HELP =
      Pattern.compile("(?ms)^```text\\R(Usage: idempotency.*?)^```$");

  /** The options that commands share; the page has them once, for the first command. */
  private static final Pattern SHARED =
      Pattern.compile("(?s) {6}--(reason=TEXT|url=URL).*?-V, --version [^\n]*\n");

  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");
  private static final Pattern VARIABLE = Pattern.compile("\\| `([A-Z_]+)`");

  @Test
  void everyExampleIsWhatTheProgramWrites() throws Exception {
    Orders.insertOperations(database);
    String page = Files.readString(PAGE);
    List<String> ran = new ArrayList<>();
    StringBuilder real = new StringBuilder();
    Matcher sessions = SESSION.matcher(page);
    while (sessions.find()) {
      List<String> words = words(sessions.group(1));
      ran.add(words.get(0));
      sessions.appendReplacement(
          real,
          Matcher.quoteReplacement(
              "```console\n$ %s\n%s```".formatted(sessions.group(1), run(words))));
    }
    sessions.appendTail(real);
    Files.writeString(Path.of("target", "command-line.md"), withHelp(real.toString()));

    assertThat(withoutTimes(page)).isEqualTo(withoutTimes(withHelp(real.toString())));
    Set<String> ending = new TreeSet<>(commands().getSubcommands().keySet());
    ending.remove("console"); // which serves until it is stopped
    assertThat(ran).containsAll(ending);
  }

  @Test
  void theHelpOfEveryCommandIsThereAndNoOther() throws Exception {
    List<String> pages =
        HELP.matcher(Files.readString(PAGE)).results().map(help -> help.group(1)).toList();

    List<String> real = new ArrayList<>();
    commands().getSubcommands().keySet().forEach(command -> real.add(help(command)));
    assertThat(pages).containsExactlyElementsOf(real);
  }

  @Test
  void theGrantsAreThoseOfTheTests() throws Exception {
    Path host = Path.of("src/test/resources/io/github/grpcidempotency/cli/orders.sql");

    assertThat(Snippets.of(PAGE)).isNotEmpty().allMatch(grants -> Snippets.isCutFrom(grants, host));
  }

  @Test
  void theExitCodesAreDocumented() throws Exception {
    List<String> rows =
        Pattern.compile("(?m)^\\| (\\d) \\| (.*) \\|$")
            .matcher(Files.readString(PAGE))
            .results()
            .map(row -> row.group(1) + " " + row.group(2))
            .toList();

    List<String> real = new ArrayList<>();
    for (ExitCode code : ExitCode.values()) {
      real.add(code.code() + " " + code.meaning());
    }
    assertThat(rows).isEqualTo(real);
  }

  @Test
  void theVariablesAreDocumented() throws Exception {
    Set<String> told =
        VARIABLE
            .matcher(Files.readString(PAGE))
            .results()
            .map(row -> row.group(1))
            .collect(Collectors.toCollection(TreeSet::new));

    Set<String> asked = new TreeSet<>();
    try (var sources = Files.walk(Path.of("src", "main", "java"))) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        Pattern.compile("variable\\(\"([A-Z_]+)\"\\)")
            .matcher(Files.readString(source))
            .results()
            .map((MatchResult found) -> found.group(1))
            .forEach(asked::add);
      }
    }
    assertThat(told).isEqualTo(asked);
  }

  @Test
  void everyFieldOfTheJsonIsDocumented() throws Exception {
    Orders.insertOperations(database);
    Shell shell = Shell.with(Orders.operator(database));
    Shell auditor = shell.and("IDEMPOTENCY_USER", Orders.AUDITOR);
    Map<String, JsonObject> objects = new HashMap<>();
    objects.put("list", only(shell.run("list", "--stuck", "--keys", "--output", "json")));
    JsonObject shown =
        only(
            auditor.run(
                "show", OperationIds.COMPLETED, "--contents", "--reason", "r", "--output", "json"));
    objects.put("contents", shown.get("contents").getAsJsonObject());
    objects.put("audit", shown.get("audit").getAsJsonArray().get(0).getAsJsonObject());
    objects.put("stats", only(shell.run("stats", "--output", "json")));
    objects.put(
        "procedures",
        objects.get("stats").get("procedures").getAsJsonArray().get(0).getAsJsonObject());
    objects.put(
        "work",
        only(
            shell.run(
                "work",
                "--procedure",
                "orders.v1.OrderService/CreateOrder",
                "--outbox",
                "SELECT status FROM app.outbox WHERE order_id = :resource_id",
                "--output",
                "json")));

    String page = Files.readString(PAGE);
    objects.forEach(
        (name, object) -> {
          Matcher row = Pattern.compile("(?m)^\\| " + name + " \\| (.*?) \\|").matcher(page);
          assertThat(row.find()).as(name).isTrue();
          assertThat(row.group(1))
              .isEqualTo(
                  object.keySet().stream()
                      .map("`%s`"::formatted)
                      .collect(Collectors.joining(", ")));
        });
    assertThat(shown.keySet()).contains("contents", "audit");
  }

  private static JsonObject only(Result result) {
    return result.expect(ExitCode.OK).json().get(0);
  }

  private String run(List<String> words) {
    Result result =
        Shell.with(Orders.operator(database))
            .and("COLUMNS", "120")
            .run(words.toArray(String[]::new));
    String output = result.out() + result.err();
    if (words.contains("--sql")) {
      output = output.lines().limit(6).collect(Collectors.joining("\n")) + "\n...\n";
    }
    return result.code() == 0 ? output : output + "(exit code %d)\n".formatted(result.code());
  }

  private static String withHelp(String page) {
    return HELP.matcher(page)
        .replaceAll(
            help -> {
              String name = help.group(1).split("\\s+", 4)[2];
              return Matcher.quoteReplacement("```text\n%s```".formatted(help(name)));
            });
  }

  /** Returns the help of a command as the page shows it. */
  private static String help(String name) {
    Map<String, CommandLine> all = commands().getSubcommands();
    if (!all.containsKey(name)) {
      return "";
    }
    String message = all.get(name).getUsageMessage();
    boolean isFirst = all.keySet().iterator().next().equals(name);
    return isFirst ? message : SHARED.matcher(message).replaceFirst("");
  }

  /**
   * What differs from run to run is the times, and so the widths of columns; sizes; and how many
   * rows autovacuum has counted.
   */
  private static String withoutTimes(String page) {
    return page.replaceAll("\\b(\\d+[dhms]){1,2}\\b", "LONG")
        .replaceAll("_seconds\":\\d+", "_seconds\":N")
        .replaceAll(" {2,}", "  ")
        .replaceAll("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z", "TIME")
        .replaceAll("\\b[0-9.,]+ (bytes|kB), with", "SIZE, with")
        .replaceAll("\"bytes\":\\d+", "\"bytes\":SIZE")
        .replaceAll("(records  about |\"rows_estimate\":)\\d+", "$1N");
  }

  private static List<String> words(String line) {
    String command = line.replaceFirst("^idempotency ", "");
    return WORD.matcher(command)
        .results()
        .map(
            word ->
                word.group(1) != null
                    ? word.group(1)
                    : word.group(2) != null ? word.group(2) : word.group(3))
        .toList();
  }

  private static CommandLine commands() {
    return Program.commandLine(Shell.with(Map.of()).surroundings());
  }
}
