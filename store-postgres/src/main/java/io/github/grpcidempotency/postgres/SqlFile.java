package io.github.grpcidempotency.postgres;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A statement from this package's {@code sql} folder, its {@code ${names}} filled in. */
final class SqlFile {
  private SqlFile() {}

  static String load(String name, Map<String, String> values) {
    String sql = read(name);
    for (Map.Entry<String, String> value : values.entrySet()) {
      sql = sql.replace("${" + value.getKey() + "}", value.getValue());
    }
    return sql.strip();
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
