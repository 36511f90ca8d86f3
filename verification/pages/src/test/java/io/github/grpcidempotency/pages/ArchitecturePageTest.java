package io.github.grpcidempotency.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    String page = Files.readString(PAGE);
    List<String> missing = new ArrayList<>();
    List<MatchResult> methods = METHOD.matcher(page).results().toList();
    for (MatchResult method : methods) {
      Pattern declared = Pattern.compile("[\\w>\\])] " + method.group(2) + "\\(");
      if (files(method.group(1) + ".java").noneMatch(file -> contains(file, declared))) {
        missing.add(method.group());
      }
    }
    SQL.matcher(page)
        .results()
        .map(MatchResult::group)
        .filter(file -> files(file).findAny().isEmpty())
        .forEach(missing::add);
    assertThat(methods).hasSizeGreaterThan(30);
    assertThat(missing).isEmpty();
  }

  private static Stream<Path> files(String end) {
    return MODULES.stream().flatMap(ArchitecturePageTest::tree).filter(file -> file.endsWith(end));
  }

  private static Stream<Path> tree(Path module) {
    try (Stream<Path> all = Files.walk(module)) {
      return all.toList().stream();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static boolean contains(Path file, Pattern declared) {
    try {
      return declared.matcher(Files.readString(file)).find();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
