package io.github.grpcidempotency.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Everything that the library calls is there in every row, with the same types of parameters and
 * result: {@link Journey} goes along a few paths only. What a compiler writes down depends on the
 * version it compiles with, and the sources do not show it.
 */
class LinkageTest {
  static Stream<Row> rows() {
    return Row.all();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void whateverTheLibraryNamesIsThere(Row row) throws IOException {
    try (Linkage linkage = Linkage.on(row.classPath())) {
      assertThat(linkage.checked()).as("references").isGreaterThan(300);
      assertThat(linkage.missing()).isEmpty();
    }
  }
}
