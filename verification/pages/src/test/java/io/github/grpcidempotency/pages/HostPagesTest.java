package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The code on the pages about frameworks is code of a module or a sample that is tested. */
class HostPagesTest {
  private static final Path ROOT = RepositoryRoot.PATH;
  private static final String LANGUAGES = "java|kotlin|proto|sql|properties|yaml";
  private static final Pattern SOURCE =
      Pattern.compile(".*/src/.*\\.(java|kt|proto|sql|properties|yaml|yml)");

  /** The modules and samples, or folders of them, that pages may cut from. */
  private static final List<String> MODULES =
      List.of("store-postgres", "extensions", "samples", "testing", "verification/test-base");

  private static List<List<String>> sources = List.of();

  static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>(RepositoryRoot.files(ROOT.resolve("docs/hosts"), ".md"));
    pages.addAll(RepositoryRoot.files(ROOT.resolve("samples"), "README.md"));
    for (String name : List.of("test-your-service", "http", "batches", "streams")) {
      pages.add(ROOT.resolve("docs/how-to/" + name + ".md"));
    }
    return pages;
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everySnippetIsCutFromATestedSource(Path page) throws IOException {
    for (String snippet : Snippets.of(page, LANGUAGES)) {
      assertThat(isCut(snippet)).as("these lines in a source:%n%s", snippet).isTrue();
    }
  }

  @Test
  void aSnippetThatDiffersInOneLineIsReported() throws IOException {
    List<String> snippets = Snippets.of(ROOT.resolve("docs/hosts/transactions.md"), LANGUAGES);

    assertThat(snippets).hasSizeGreaterThan(2);
    assertThat(isCut(snippets.get(0).replaceFirst("[a-z]", "#"))).isFalse();
  }

  private static boolean isCut(String snippet) {
    return sources.stream().anyMatch(source -> Snippets.isCutFrom(snippet, source));
  }

  @BeforeAll
  static void findSources() throws IOException {
    List<List<String>> found = new ArrayList<>();
    for (String module : MODULES) {
      for (Path file : RepositoryRoot.files(ROOT.resolve(module), "")) {
        if (SOURCE.matcher(file.toString()).matches()) {
          found.add(Files.readAllLines(file));
        }
      }
    }
    sources = List.copyOf(found);
  }
}
