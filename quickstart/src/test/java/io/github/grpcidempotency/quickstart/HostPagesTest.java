package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.Snippets;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The code on the pages about frameworks is code of a module or a sample that is tested. */
class HostPagesTest {
  private static final Path ROOT = Path.of("..");
  private static final String LANGUAGES = "java|kotlin|proto|sql|properties|yaml";
  private static final Pattern SOURCE =
      Pattern.compile(".*\\.(java|kt|proto|sql|properties|yaml|yml)");

  /** The modules and samples, or folders of them, that pages may cut from. */
  private static final List<String> MODULES =
      List.of("jooq", "jta", "spring", "hosts", "quickstart", "testing", "test-base");

  static List<Path> pages() throws IOException {
    return Snippets.sources(ROOT.resolve("docs").resolve("hosts"), ".md");
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everySnippetIsCutFromATestedSource(Path page) throws IOException {
    for (String snippet : Snippets.of(page, LANGUAGES)) {
      assertThat(isCut(snippet)).as("these lines in a source:%n%s", snippet).isTrue();
      assertThat(isCut(snippet.replaceFirst("[a-z]", "#"))).isFalse();
    }
  }

  @Test
  void thereAreSnippets() throws IOException {
    assertThat(Snippets.of(ROOT.resolve("docs/hosts/jooq.md"), LANGUAGES)).hasSizeGreaterThan(2);
  }

  private static boolean isCut(String snippet) throws IOException {
    for (String module : MODULES) {
      if (sources(module).stream().anyMatch(source -> Snippets.isCutFrom(snippet, source))) {
        return true;
      }
    }
    return false;
  }

  private static List<Path> sources(String module) throws IOException {
    return Snippets.sources(ROOT.resolve(module), "").stream()
        .filter(file -> SOURCE.matcher(file.toString()).matches())
        .filter(file -> file.toString().contains("/src/"))
        .toList();
  }
}
