package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Every link within the repository's pages leads to a file, and to a heading of it if it says so.
 */
class LinksTest {
  private static final Path ROOT = RepositoryRoot.PATH;
  private static final Pattern CODE = Pattern.compile("(?s)```.*?```|`[^`\\n]*`");
  private static final Pattern LINK = Pattern.compile("(?m)(?:\\]\\(|^\\[[^\\]]+\\]: )([^)\\s]+)");
  private static final Pattern ELSEWHERE = Pattern.compile("[a-z]+:.*");
  private static final Pattern FENCED = Pattern.compile("(?s)```.*?```");
  private static final Pattern TITLE = Pattern.compile("(?m)\\A# +(.*)$");
  private static final Pattern CONCATENATION = Pattern.compile("\"\\s*\\+ \"");
  private static final Pattern PATH = Pattern.compile("\"[^\"\\n]*(docs/[a-z/-]+\\.md)");
  private static final Pattern NAMED_PAGE = Pattern.compile("page \\\\\"([^\"\\\\]+)\\\\\"");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*)$");

  @Test
  void everyRelativeLinkLeadsSomewhere() throws IOException {
    List<Path> pages = pages();
    List<String> dead = new ArrayList<>();
    int links = 0;
    for (Path page : pages) {
      String text = CODE.matcher(Files.readString(page)).replaceAll("");
      for (String link : groups(LINK, text)) {
        if (!ELSEWHERE.matcher(link).matches()) {
          links++;
          if (!leadsSomewhere(page, link)) {
            dead.add(ROOT.relativize(page) + ": " + link);
          }
        }
      }
    }
    assertThat(links).isGreaterThan(50);
    assertThat(dead).isEmpty();
  }

  /** The site takes its navigation from it. */
  @Test
  void everyPageOfTheDocumentationIsInItsIndex() throws IOException {
    Path docs = ROOT.resolve("docs");
    Path index = docs.resolve("README.md");
    Set<Path> indexed = new HashSet<>(Set.of(index));
    indexed.addAll(targets(index));
    for (Path page : Set.copyOf(indexed)) {
      if (page.startsWith(docs) && page.endsWith("README.md")) {
        indexed.addAll(targets(page));
      }
    }
    assertThat(indexed)
        .containsAll(pages().stream().filter(page -> page.startsWith(docs)).toList());
  }

  /** A user of a jar has no repository. */
  @Test
  void messagesNamePagesByTheirTitles() throws IOException {
    List<String> titles =
        pages().stream().flatMap(page -> groups(TITLE, Text.read(page)).stream()).toList();
    List<String> named = new ArrayList<>();
    for (Path source : RepositoryRoot.files(ROOT, ".java")) {
      if (source.toString().contains("/src/main/")
          && !source.startsWith(ROOT.resolve("verification"))) {
        String text = CONCATENATION.matcher(Files.readString(source)).replaceAll("");
        assertThat(groups(PATH, text)).as("paths in the messages of %s", source).isEmpty();
        named.addAll(groups(NAMED_PAGE, text));
      }
    }
    assertThat(named).isNotEmpty();
    assertThat(titles).containsAll(named);
  }

  @Test
  void aDeadLinkIsReported() {
    Path readme = ROOT.resolve("README.md");
    assertThat(leadsSomewhere(readme, "README.md")).isTrue();
    assertThat(leadsSomewhere(readme, "no-such-page.md")).isFalse();
    assertThat(leadsSomewhere(readme, "README.md#no-such-heading")).isFalse();
  }

  private static boolean leadsSomewhere(Path page, String link) {
    Path target = target(page, link);
    int fragment = link.indexOf('#');
    if (!Files.exists(target)) {
      return false;
    }
    return fragment < 0 || headings(target).contains(link.substring(fragment + 1));
  }

  private static List<Path> targets(Path page) throws IOException {
    return groups(LINK, Files.readString(page)).stream().map(link -> target(page, link)).toList();
  }

  private static Path target(Path page, String link) {
    String path = link.replaceFirst("#.*", "");
    return path.isEmpty() ? page : page.resolveSibling(path).normalize();
  }

  /** Headings as a browser knows them: in lower case, without punctuation, joined by hyphens. */
  private static List<String> headings(Path page) {
    return groups(HEADING, FENCED.matcher(Text.read(page)).replaceAll("")).stream()
        .map(heading -> heading.replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1"))
        .map(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", ""))
        .map(heading -> heading.strip().replace(' ', '-'))
        .toList();
  }

  private static List<Path> pages() throws IOException {
    return RepositoryRoot.files(ROOT, ".md");
  }
}
