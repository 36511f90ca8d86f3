package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The snippets of the README and of the page about the quickstart are contiguous lines of the
 * quickstart, but for their indentation.
 */
class ReadmeTest {
  private static final Path README = RepositoryRoot.resolve("README.md");
  private static final Path SOURCES = Path.of("src", "main");

  static List<String> snippets() throws IOException {
    List<String> snippets = new ArrayList<>(Snippets.of(README));
    snippets.addAll(Snippets.of(RepositoryRoot.resolve("docs/quickstart.md")));
    return snippets;
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void everySnippetIsCutFromTheQuickstart(String snippet) throws IOException {
    assertThat(Snippets.isCut(snippet, SOURCES))
        .as("these lines in a source of the quickstart:%n%s", snippet)
        .isTrue();
  }
}
