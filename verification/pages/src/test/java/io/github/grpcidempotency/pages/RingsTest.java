package io.github.grpcidempotency.pages;

import static io.github.grpcidempotency.pages.Text.groups;
import static io.github.grpcidempotency.pages.Text.pom;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * A module depends on modules of its own ring or of one inside it. Tests are free to use the shared
 * test code, which is in the outermost ring.
 */
class RingsTest {
  /** From the inside: the library, what extends it, services that use it, what tests it. */
  private static final List<List<String>> RINGS =
      List.of(
          List.of("bom", "proto", "interceptor", "store-postgres", "client", "testing"),
          List.of("extensions", "operations"),
          List.of("example-server", "samples"),
          List.of("verification"));

  private static final Pattern PARENT = Pattern.compile("(?s)<parent>.*?</parent>");
  private static final Pattern MANAGED =
      Pattern.compile("(?s)<dependencyManagement>.*?</dependencyManagement>");
  private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(.*?)</artifactId>");
  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");
  private static final Pattern ONLY_FOR_TESTS =
      Pattern.compile("<scope>test</scope>|<artifactId>grpc-idempotency-embedded-postgres<");

  private final Map<String, Path> modules = modules();

  @Test
  void everyModuleIsInARing() {
    assertThat(modules).hasSizeGreaterThan(25);
    assertThat(modules.values()).allSatisfy(folder -> assertThat(ring(folder)).isNotNegative());
  }

  @Test
  void noModuleDependsOnARingOutsideItsOwn() {
    assertThat(modules.values())
        .allSatisfy(
            folder ->
                assertThat(dependencies(folder))
                    .allSatisfy(
                        dependency ->
                            assertThat(ring(dependency)).isLessThanOrEqualTo(ring(folder))));
  }

  private List<Path> dependencies(Path folder) {
    return groups(DEPENDENCY, MANAGED.matcher(pom(folder)).replaceAll("")).stream()
        .filter(dependency -> !ONLY_FOR_TESTS.matcher(dependency).find())
        .flatMap(dependency -> groups(ARTIFACT, dependency).stream().limit(1))
        .filter(modules::containsKey)
        .map(modules::get)
        .toList();
  }

  private static int ring(Path folder) {
    String top = RepositoryRoot.PATH.relativize(folder).getName(0).toString();
    return RINGS.indexOf(
        RINGS.stream().filter(ring -> ring.contains(top)).findFirst().orElse(List.of()));
  }

  /** Returns the folder of every module, by its artifact; the parents are modules too. */
  private static Map<String, Path> modules() {
    try {
      Map<String, Path> modules = new HashMap<>();
      RepositoryRoot.files(RepositoryRoot.PATH, "pom.xml").stream()
          .map(Path::getParent)
          .filter(folder -> !folder.equals(RepositoryRoot.PATH))
          .forEach(folder -> modules.put(artifact(folder), folder));
      return modules;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static String artifact(Path folder) {
    return groups(ARTIFACT, PARENT.matcher(pom(folder)).replaceAll("")).get(0);
  }
}
