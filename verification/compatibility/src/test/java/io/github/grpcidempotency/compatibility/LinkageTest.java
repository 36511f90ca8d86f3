package io.github.grpcidempotency.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Everything that the library calls is there in every row, with the same types of parameters and
 * result: {@link Journey} goes along a few paths only. What a compiler writes down depends on the
 * version it compiles with, and the sources do not show it.
 */
class LinkageTest {
  /** What the poms of {@code ours-first} and {@code ours-last} declare, and what comes with it. */
  static final List<String> JARS_OF_A_SERVICE =
      List.of(
          "grpc-api-1.85.1.jar",
          "grpc-netty-shaded-1.85.1.jar",
          "protobuf-java-4.34.2.jar",
          "guava-33.6.0-android.jar");

  static Stream<Row> rows() {
    return Row.all();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void whateverTheLibraryNamesIsThere(Row row) throws IOException {
    assertNothingIsMissing(row.classPath());
  }

  /** Maven takes the nearest version, and of two that are equally near the first. */
  @ParameterizedTest
  @ValueSource(strings = {"ours-first", "ours-last"})
  void aServiceKeepsItsVersionsWhereverItListsTheLibrary(String service) throws IOException {
    String listed = Files.readString(Path.of(service, "target", "class-path")).strip();
    List<Path> classPath = Stream.of(listed.split(File.pathSeparator)).map(Path::of).toList();

    assertThat(classPath.stream().map(entry -> entry.getFileName().toString()))
        .containsAll(JARS_OF_A_SERVICE);
    assertNothingIsMissing(classPath);
  }

  private static void assertNothingIsMissing(List<Path> classPath) throws IOException {
    try (Linkage linkage = Linkage.on(classPath)) {
      assertThat(linkage.checked()).as("references").isGreaterThan(300);
      assertThat(linkage.missing()).isEmpty();
    }
  }
}
