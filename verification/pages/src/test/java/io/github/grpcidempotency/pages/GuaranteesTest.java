package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Every cell of the README's table of guarantees is a link to a test that exists. */
class GuaranteesTest {
  private static final String README = Text.read(RepositoryRoot.resolve("README.md"));
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]+\\]\\[(g-[\\w-]+)\\]");
  private static final Pattern DEFINITION =
      Pattern.compile("(?m)^\\[(g-[\\w-]+)\\]: (\\S+) \"(\\w+)\"$");

  /** An event, and what happens in each of three executions. */
  private static final int COLUMNS = 4;

  /** A test and where it is. */
  private record Shown(String file, String method) {
    boolean exists() {
      Path path = RepositoryRoot.resolve(file);
      Pattern test =
          Pattern.compile(
              "@(?:Parameterized|Repeated)?Test\\b(?:(?!\\n\\n)[\\s\\S])*?\\bvoid "
                  + method
                  + "\\(");
      return Files.exists(path) && test.matcher(Text.read(path)).find();
    }
  }

  @Test
  void everyCellLinksToATestThatExists() {
    Map<String, Shown> tests = tests(README);

    assertThat(cellsWithoutALink(README)).isEmpty();
    assertThat(tests.keySet()).isEqualTo(Set.copyOf(groups(LINK, section(README))));
    assertThat(tests).allSatisfy((name, shown) -> assertThat(shown).matches(Shown::exists));
  }

  @Test
  void aCellWithoutALinkAndATestThatDoesNotExistAreReported() {
    String changed = README.replaceFirst("\\]\\[g-ok-r\\]", "]");

    assertThat(cellsWithoutALink(changed)).hasSize(1);
    assertThat(new Shown("README.md", "noSuchTest").exists()).isFalse();
    assertThat(new Shown("NoSuchTest.java", "noSuchTest").exists()).isFalse();
  }

  private static List<String> cellsWithoutALink(String readme) {
    List<List<String>> rows =
        section(readme)
            .lines()
            .filter(line -> line.startsWith("|"))
            .skip(2)
            .map(line -> Arrays.stream(line.split("\\|")).skip(1).map(String::strip).toList())
            .toList();
    assertThat(rows).hasSizeGreaterThan(12).allSatisfy(row -> assertThat(row).hasSize(COLUMNS));
    List<String> without = new ArrayList<>();
    for (List<String> row : rows) {
      row.stream()
          .skip(1)
          .filter(cell -> !LINK.matcher(cell).find())
          .forEach(cell -> without.add(row.get(0) + ": " + cell));
    }
    return without;
  }

  private static Map<String, Shown> tests(String readme) {
    return DEFINITION
        .matcher(readme)
        .results()
        .collect(
            Collectors.toMap(
                found -> found.group(1), found -> new Shown(found.group(2), found.group(3))));
  }

  private static String section(String readme) {
    return readme.split("\n## What is guaranteed\n", 2)[1].split("\n## ", 2)[0];
  }
}
