package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The test on the page about tests of services is one that runs. */
class HowToTestPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/test-your-service.md");
  private static final Path TESTS = Path.of("src", "test", "java");

  @Test
  void itsTestIsCutFromTheQuickstartsAndHasTwentyLines() throws IOException {
    String snippet = Snippets.of(PAGE).get(0);

    assertThat(Snippets.isCut(snippet, TESTS))
        .as("these lines in a test of the quickstart:%n%s", snippet)
        .isTrue();
    assertThat(snippet.lines().filter(line -> !line.isBlank())).hasSizeLessThanOrEqualTo(20);
  }
}
