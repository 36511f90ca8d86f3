package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The snippets of the README and of the page about the quickstart are contiguous lines of the
 * quickstart, but for their indentation.
 */
class ReadmeTest {
  private static final Path README = RepositoryRoot.resolve("README.md");
  private static final Path QUICKSTART = RepositoryRoot.resolve("docs/quickstart.md");
  private static final Path SOURCES = Path.of("src", "main");
  private static final Pattern VERSION = Pattern.compile("version>([0-9][^<]*[.][^<]*)</");

  static List<String> snippets() throws IOException {
    List<String> snippets = new ArrayList<>(Snippets.of(README));
    snippets.addAll(Snippets.of(QUICKSTART));
    return snippets;
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void everySnippetIsCutFromTheQuickstart(String snippet) throws IOException {
    assertThat(Snippets.isCut(snippet, SOURCES))
        .as("these lines in a source of the quickstart:%n%s", snippet)
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"src/main/java/smallest/Smallest.java", "src/main/protobuf/smallest/orders.proto"})
  void theSmallestExampleIsOnThePageAsAWhole(Path file) throws IOException {
    assertThat(Snippets.of(QUICKSTART)).contains(Files.readString(file));
  }

  @Test
  void theProjectToCopyHasTheVersionsOfTheBuild() throws IOException {
    String project = Files.readString(Path.of("smallest", "pom.xml"));
    String build = Files.readString(RepositoryRoot.resolve("pom.xml"));
    Matcher version = VERSION.matcher(project);

    assertThat(version.results().count()).isGreaterThan(8);
    version.reset();
    while (version.find()) {
      assertThat(build).contains(">" + version.group(1) + "<");
    }
  }
}
