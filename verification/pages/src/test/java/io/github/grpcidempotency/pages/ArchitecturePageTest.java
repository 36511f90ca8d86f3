package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the page about the architecture names exists. */
class ArchitecturePageTest {
  private static final Path PAGE =
      RepositoryRoot.PATH.resolve(Path.of("docs", "explanations", "architecture.md"));
  private static final Pattern METHOD = Pattern.compile("\\b([A-Z]\\w+)\\.(?!md\\b)([a-z]\\w+)\\b");
  private static final Pattern SQL = Pattern.compile("\\b[a-z]+/[a-z_]+\\.sql\\b");
  private static final List<Path> MODULES =
      Stream.of("interceptor", "store-postgres", "extensions/spring/spring-transactions")
          .map(module -> RepositoryRoot.PATH.resolve(module).resolve(Path.of("src", "main")))
          .toList();

  @Test
  void everyNamedMethodAndStatementExists() throws IOException {
    String page = Text.read(PAGE);
    List<Path> sources = new ArrayList<>();
    for (Path module : MODULES) {
      try (Stream<Path> files = Files.walk(module)) {
        files.forEach(sources::add);
      }
    }
    List<String> missing = new ArrayList<>();
    List<MatchResult> methods = METHOD.matcher(page).results().toList();
    for (MatchResult method : methods) {
      Pattern declared = Pattern.compile("[\\w>\\])] " + method.group(2) + "\\(");
      if (sources.stream()
          .filter(file -> file.endsWith(method.group(1) + ".java"))
          .noneMatch(file -> declared.matcher(Text.read(file)).find())) {
        missing.add(method.group());
      }
    }
    SQL.matcher(page)
        .results()
        .map(MatchResult::group)
        .filter(statement -> sources.stream().noneMatch(file -> file.endsWith(statement)))
        .forEach(missing::add);
    assertThat(methods).hasSizeGreaterThan(30);
    assertThat(missing).isEmpty();
  }
}
