package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The README's snippets are contiguous lines of the quickstart, but for their indentation. */
class ReadmeTest {
  private static final Path README = Path.of("..", "README.md");
  private static final Path SOURCES = Path.of("src", "main");
  private static final Pattern SNIPPET =
      Pattern.compile("^```(?:java|proto|sql)\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

  static List<String> snippets() throws IOException {
    return SNIPPET
        .matcher(Files.readString(README))
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void everySnippetIsCutFromTheQuickstart(String snippet) throws IOException {
    assertThat(isCut(snippet))
        .as("these lines in a source of the quickstart:%n%s", snippet)
        .isTrue();
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void aSnippetThatDiffersInOneLineIsNoticed(String snippet) throws IOException {
    assertThat(isCut(snippet.replaceFirst("[a-z]", "#"))).isFalse();
    assertThat(isCut(snippet + "and more")).isFalse();
  }

  @Test
  void javaProtoAndSqlAreShown() throws IOException {
    assertThat(Files.readString(README)).contains("```java\n", "```proto\n", "```sql\n");
  }

  @Test
  void itHasBetween1200And1500Words() throws IOException {
    assertThat(Files.readString(README).strip().split("\\s+")).hasSizeBetween(1200, 1500);
  }

  @Test
  void theQuickstartFitsIn300Lines() throws IOException {
    int lines = 0;
    for (Path source : sources(".java")) {
      lines += lines(Files.readString(source)).size();
    }
    assertThat(lines).isBetween(1, 300);
  }

  private static boolean isCut(String snippet) throws IOException {
    for (Path source : sources("")) {
      if (contains(lines(Files.readString(source)), lines(snippet))) {
        return true;
      }
    }
    return false;
  }

  private static boolean contains(List<String> source, List<String> snippet) {
    String wanted = unindented(snippet);
    for (int i = 0; i + snippet.size() <= source.size(); i++) {
      if (unindented(source.subList(i, i + snippet.size())).equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  private static List<Path> sources(String extension) throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files
          .filter(file -> Files.isRegularFile(file) && file.toString().endsWith(extension))
          .toList();
    }
  }

  private static List<String> lines(String text) {
    return text.lines().toList();
  }

  private static String unindented(List<String> lines) {
    return String.join("\n", lines).stripIndent();
  }
}
