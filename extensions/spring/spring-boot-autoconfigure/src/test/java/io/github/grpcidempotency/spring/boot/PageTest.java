package io.github.grpcidempotency.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The code of the page about Spring Boot is cut from what is tested here and from the example. */
class PageTest {
  @Test
  void everySnippetIsCutFromATest() throws IOException {
    List<String> snippets =
        Snippets.of(RepositoryRoot.resolve("docs/hosts/spring-boot.md"), "java|proto|sql|yaml");

    assertThat(snippets).hasSizeGreaterThan(4);
    for (String snippet : snippets) {
      assertThat(
              Snippets.isCut(snippet, Path.of("src", "test"))
                  || Snippets.isCut(snippet, RepositoryRoot.resolve("samples/spring/src/main"))
                  || Snippets.isCut(
                      snippet, RepositoryRoot.resolve("samples/spring-boot-3/src/main"))
                  || Snippets.isCut(
                      snippet, RepositoryRoot.resolve("verification/test-base/src/main")))
          .as(snippet)
          .isTrue();
    }
  }
}
