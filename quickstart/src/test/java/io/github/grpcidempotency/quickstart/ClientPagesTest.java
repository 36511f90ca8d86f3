package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The code on the pages about clients in other languages is code that the example's tests run. */
class ClientPagesTest {
  private static final Path PAGES = Path.of("..", "docs", "how-to", "clients");
  private static final Path TESTED = Path.of("..", "example-server", "src", "test", "interop");

  @ParameterizedTest
  @CsvSource({"node.md, js", "python.md, python"})
  void everySnippetIsCutFromATestedClient(String page, String language) throws IOException {
    List<String> snippets = Snippets.of(PAGES.resolve(page), language);

    assertThat(snippets).hasSizeGreaterThan(4);
    assertThat(snippets).allMatch(ClientPagesTest::isCut);
    assertThat(snippets).noneMatch(snippet -> isCut(snippet.replaceFirst("[a-z]", "#")));
  }

  /** One file at a time: beside them may lie thousands that npm has brought. */
  private static boolean isCut(String snippet) {
    return List.of("idempotency.js", "client.js", "idempotency.py", "client.py").stream()
        .map(TESTED::resolve)
        .anyMatch(source -> Snippets.isCutFrom(snippet, source));
  }
}
