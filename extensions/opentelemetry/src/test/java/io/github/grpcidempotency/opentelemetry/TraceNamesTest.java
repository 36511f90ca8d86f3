package io.github.grpcidempotency.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.test.RepositoryRoot;
import io.opentelemetry.api.common.AttributeKey;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TraceNamesTest {
  private static final Path PAGE = RepositoryRoot.resolve("docs/how-to/listen-to-events.md");

  private static final Pattern NAME = Pattern.compile("`(idempotency\\.[a-z_.]+)`");

  @Test
  void thePageNamesOnlyWhatIsWritten() throws Exception {
    List<String> documented =
        NAME.matcher(Files.readString(PAGE)).results().map(name -> name.group(1)).toList();

    assertThat(documented).hasSizeGreaterThan(5);
    assertThat(names()).containsAll(documented);
  }

  @Test
  void noNameIsThePrefixOfAnother() {
    List<String> names = names().toList();

    assertThat(names)
        .doesNotHaveDuplicates()
        .allMatch(name -> name.matches("idempotency\\.[a-z_]+"));
  }

  /** Returns the names of all attributes, events and spans. */
  static Stream<String> names() {
    return Arrays.stream(TraceNames.class.getDeclaredFields())
        .filter(field -> Modifier.isPublic(field.getModifiers()))
        .map(TraceNamesTest::name);
  }

  private static String name(Field field) {
    try {
      Object value = field.get(null);
      return value instanceof AttributeKey<?> key ? key.getKey() : String.valueOf(value);
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
