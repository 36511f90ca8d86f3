package io.github.grpcidempotency.pages;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** Reads files of the repository as text. */
final class Text {
  private Text() {}

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the text of the {@code pom.xml} in a folder. */
  static String pom(Path folder) {
    return read(folder.resolve("pom.xml"));
  }

  /** Returns the first group of each match. */
  static List<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(found -> found.group(1)).toList();
  }
}
