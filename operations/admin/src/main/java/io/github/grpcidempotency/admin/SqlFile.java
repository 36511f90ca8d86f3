package io.github.grpcidempotency.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A statement from this package's folder {@code sql}. */
final class SqlFile {
  private SqlFile() {}

  /**
   * Loads a statement.
   *
   * @param name the name of its file, without the suffix
   */
  static String load(String name, String schema) {
    try (InputStream file = SqlFile.class.getResourceAsStream("sql/" + name + ".sql")) {
      if (file == null) {
        throw new IllegalArgumentException("no statement is called " + name);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8).replace("${schema}", schema);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
