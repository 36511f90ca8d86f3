package io.github.grpcidempotency.postgres.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.Test;

/** The page of the database's states names the SQLSTATEs of each cause. */
class FailuresTest {
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `(\\w+)`[^|]*\\| ([^|]+) \\|");
  private static final Pattern STATE = Pattern.compile("\\b[0-9][0-9A-Z]{4}\\b");
  private static final Pattern CLASS = Pattern.compile("\\b([0-9][0-9A-Z]+)\\*");

  /** What the page says of a state in another row, or only of some errors with the state. */
  private static final Pattern EXCEPTION = Pattern.compile("other than [^,;|]*|; \\w+ only [^|]*");

  /** Causes of failures to connect. The outage needs a proof beside the failure. */
  private static final Set<String> AT_CONNECT = Set.of("no_login", "pool_exhausted");

  private static final List<String> SAMPLES =
      List.of("08003", "08006", "08P01", "26000", "40001", "40002", "40P01", "57P04", "57P05");

  @Test
  void eachStateHasTheCauseThatThePageNames() throws IOException {
    Map<String, String> page = page();
    Set<String> states = new LinkedHashSet<>(SAMPLES);
    page.forEach(
        (cause, text) -> {
          if (AT_CONNECT.contains(cause)) {
            statesIn(text)
                .forEach(state -> assertThat(atConnect(state)).as(state).isEqualTo(cause));
          } else {
            statesIn(text).forEach(states::add);
          }
        });

    assertThat(states).hasSizeGreaterThan(20);
    assertThat(states)
        .allSatisfy(state -> assertThat(documented(page, state)).isEqualTo(of(state)));
  }

  private static String documented(Map<String, String> page, String state) {
    return page.entrySet().stream()
        .filter(row -> !AT_CONNECT.contains(row.getKey()))
        .filter(row -> statesIn(row.getValue()).anyMatch(state::equals))
        .findFirst()
        .or(
            () ->
                page.entrySet().stream()
                    .filter(row -> !row.getValue().contains(state))
                    .filter(row -> classesIn(row.getValue()).anyMatch(state::startsWith))
                    .findFirst())
        .map(Map.Entry::getKey)
        .orElse("other");
  }

  private static Stream<String> statesIn(String text) {
    return STATE.matcher(EXCEPTION.matcher(text).replaceAll("")).results().map(MatchResult::group);
  }

  private static Stream<String> classesIn(String text) {
    return CLASS.matcher(text).results().map(found -> found.group(1));
  }

  private static String of(String state) {
    return nameOf(Failures.causeOf(new UnableToExecuteStatementException(failure(state), null)));
  }

  private static String atConnect(String state) {
    return nameOf(Failures.causeOf(new ConnectionException(failure(state))));
  }

  private static SQLException failure(String state) {
    return new SQLException("on purpose", state);
  }

  private static String nameOf(FailureCause cause) {
    return cause.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the text about the states of each cause, without the outage. */
  private static Map<String, String> page() throws IOException {
    String page = Files.readString(RepositoryRoot.resolve("docs/concepts/databases.md"));
    return ROW.matcher(page.split("\n## ", 3)[1])
        .results()
        .filter(row -> !row.group(1).equals("no_connection"))
        .collect(
            Collectors.toMap(
                row -> row.group(1), row -> row.group(2), (one, other) -> one, LinkedHashMap::new));
  }
}
