package io.github.grpcidempotency.postgres;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A statement from this package's {@code sql} folder, its {@code ${names}} filled in. The database
 * copies a statement's text every time that it is executed, so comments and indentation stay here.
 */
final class SqlFile {
  private static final Pattern COMMENT = Pattern.compile("--.*");
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private SqlFile() {}

  static String load(String name, Map<String, String> values) {
    String sql = compact(read(name));
    for (Map.Entry<String, String> value : values.entrySet()) {
      sql = sql.replace("${" + value.getKey() + "}", value.getValue());
    }
    return sql;
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
