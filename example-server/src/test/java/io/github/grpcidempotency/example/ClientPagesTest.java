package io.github.grpcidempotency.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The program on a page about clients in another language is the one that the example's tests run.
 */
class ClientPagesTest {
  private static final Path PAGES = RepositoryRoot.resolve("docs/how-to/clients");
  private static final Path TESTED = RepositoryRoot.resolve("example-server/src/test/interop");

  @ParameterizedTest
  @CsvSource({"node.md, js, idempotency.js", "python.md, python, idempotency.py"})
  void thePageShowsTheWholeOfATestedProgram(String page, String language, String program)
      throws IOException {
    assertThat(Snippets.of(PAGES.resolve(page), language))
        .containsExactly(Files.readString(TESTED.resolve(program)));
  }
}
