package io.github.grpcidempotency.postgres;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A statement from a folder of this package's {@code sql}, its {@code ${names}} filled in. The
 * database copies a statement's text every time that it is executed, so comments and indentation
 * stay here.
 */
final class SqlFile {
  private static final Pattern COMMENT = Pattern.compile("--.*");
  private static final Pattern NAME = Pattern.compile("\\$\\{([a-z_]+)}");
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private SqlFile() {}

  /**
   * Loads a statement.
   *
   * @param name its folder and file, without the ending
   * @param values the values of the names in it
   * @throws IllegalArgumentException if it has a name for which there is no value
   */
  static String load(String name, Map<String, String> values) {
    return NAME.matcher(compact(read(name)))
        .replaceAll(found -> Matcher.quoteReplacement(value(name, found.group(1), values)));
  }

  private static String value(String file, String name, Map<String, String> values) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("%s needs a value for %s".formatted(file, name));
    }
    return value;
  }

  private static String compact(String sql) {
    String uncommented = COMMENT.matcher(sql).replaceAll("");
    return SPACE.matcher(uncommented).replaceAll(" ").strip();
  }

  private static String read(String name) {
    try {
      return Resources.toString(
          Resources.getResource(SqlFile.class, "sql/" + name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
