package io.github.grpcidempotency.spring.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The test on the page about tests in Spring Boot is one that runs. */
class TestsPageTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/test-your-service.md");
  private static final Path TESTS = Path.of("src", "test", "java");

  @Test
  void itsTestIsCutFromTheExample() throws IOException {
    String snippet = Snippets.of(PAGE).get(1);

    assertThat(snippet).contains("aRetryMakesOneOrder");
    assertThat(Snippets.isCut(snippet, TESTS))
        .as("these lines in a test of the example:%n%s", snippet)
        .isTrue();
  }
}
