package io.github.grpcidempotency.spring.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The snippets of the pages are lines of what is built and tested here. */
class PagesTest {
  private static final Path PAGES = Path.of("..", "..", "docs", "hosts");
  private static final Path TESTS = Path.of("src", "test", "java");
  private static final Path TESTS_OF_THE_ANNOTATION =
      Path.of("..", "spring-boot-test", "src", "test", "java");

  @Test
  void theTestOnItsPageIsCutFromTheExampleAndHasTwentyLines() throws IOException {
    List<String> snippets = Snippets.of(PAGES.resolve("spring-tests.md"));

    assertThat(snippets).hasSize(2);
    assertCut(snippets.get(0), TESTS);
    assertThat(snippets.get(0).lines().filter(line -> !line.isBlank()))
        .hasSizeLessThanOrEqualTo(20);
    assertCut(snippets.get(1), TESTS_OF_THE_ANNOTATION);
  }

  @Test
  void theTourIsCutFromTheExample() throws IOException {
    List<String> snippets = Snippets.of(PAGES.resolve("spring-example.md"));

    assertThat(snippets).hasSize(4);
    for (String snippet : snippets) {
      assertCut(snippet, Path.of("src", "main"));
    }
  }

  private static void assertCut(String snippet, Path sources) throws IOException {
    assertThat(Snippets.isCut(snippet, sources))
        .as("these lines in %s:%n%s", sources, snippet)
        .isTrue();
  }
}
