package io.github.grpcidempotency.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A table of the page about mistakes. Each row is asserted by the test whose name is the row's
 * mistake: "The grant is missing" by {@code theGrantIsMissing}.
 */
public final class MistakeTable {
  private static final Pattern ROW =
      Pattern.compile("^\\| (?<mistake>[^|]+) \\| (?<found>[^|]+) \\| (?<message>.+) \\|$");
  private static final Pattern MESSAGE = Pattern.compile("`([^`]+)`");

  private final Path page;
  private final List<Row> rows;

  private MistakeTable(Path page, List<Row> rows) {
    this.page = page;
    this.rows = rows;
  }

  /** Reads the table under a heading. */
  public static MistakeTable under(String heading) {
    Path page = RepositoryRoot.resolve("docs/reference/mistakes.md");
    String section = text(page).split("\n## " + heading + "\n", 2)[1].split("\n## ", 2)[0];
    return new MistakeTable(
        page,
        section
            .lines()
            .map(ROW::matcher)
            .filter(row -> row.matches() && !row.group("mistake").equals("mistake"))
            .map(
                row ->
                    new Row(page, row.group("mistake"), row.group("found"), row.group("message")))
            .toList());
  }

  /** Asserts that a class has a test for each row, and for nothing else. */
  public void assertTestedBy(Class<?> tests) {
    assertThat(
            Arrays.stream(tests.getDeclaredMethods())
                .filter(method -> Arrays.toString(method.getAnnotations()).contains("api.Test("))
                .map(method -> method.getName())
                .toList())
        .as("the tests of the rows in %s", page)
        .containsExactlyInAnyOrderElementsOf(rows.stream().map(Row::test).toList());
  }

  public Row of(String test) {
    return rows.stream()
        .filter(row -> row.test().equals(test))
        .findFirst()
        .orElseThrow(() -> new AssertionError("%s has no row for %s".formatted(page, test)));
  }

  /**
   * A mistake.
   *
   * @param found where a user finds it
   * @param message the message, in which … stands for any text
   */
  public record Row(Path page, String mistake, String found, String message) {
    /** Asserts that the service's own migration fails, and why. */
    public void isFoundInTheMigration(String why) {
      isFound("migration", List.of(why));
    }

    /** Asserts that the server does not start, and why. */
    public void isFoundAtStartUp(String why) {
      isFound("start-up", List.of(why));
    }

    /** Asserts that the first call ends with this error. */
    public void isFoundByTheClient(String error) {
      isFound("first call, client", List.of(error));
    }

    /** Asserts that the handler of the first call gets this exception. */
    public void isFoundByTheHandler(Throwable thrown) {
      isFound("first call, handler", List.of(thrown.toString()));
    }

    /** Asserts that the first call leaves a line in the log. */
    public void isFoundInTheLog(List<String> lines) {
      isFound("first call, log", lines);
    }

    private void isFound(String where, List<String> seen) {
      String pattern =
          Arrays.stream(first(MESSAGE).group(1).split("…", -1))
              .map(Pattern::quote)
              .collect(Collectors.joining(".*"));
      assertThat(seen)
          .as("the message of: %s", mistake)
          .anyMatch(line -> Pattern.compile(pattern, Pattern.DOTALL).matcher(line).find());
      assertThat(found).as(mistake).isEqualTo(where);
    }

    private MatchResult first(Pattern pattern) {
      return pattern
          .matcher(message)
          .results()
          .findFirst()
          .orElseThrow(() -> new AssertionError("no %s in: %s".formatted(pattern, message)));
    }

    private String test() {
      String name =
          Arrays.stream(mistake.split("[^A-Za-z0-9]+"))
              .filter(word -> !word.isEmpty())
              .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + lower(word.substring(1)))
              .collect(Collectors.joining());
      return lower(name.substring(0, 1)) + name.substring(1);
    }

    private static String lower(String text) {
      return text.toLowerCase(Locale.ROOT);
    }
  }

  private static String text(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
