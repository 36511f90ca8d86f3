package io.github.grpcidempotency.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The snippets of a page, and whether they are contiguous lines of a source. */
public final class Snippets {
  private Snippets() {}

  /** Returns the snippets in Java, protobuf and SQL. */
  public static List<String> of(Path page) throws IOException {
    return of(page, "java|proto|sql");
  }

  /** Returns the snippets in these languages, which are alternatives in a regular expression. */
  public static List<String> of(Path page, String languages) throws IOException {
    Pattern snippet =
        Pattern.compile(
            "^```(?:" + languages + ")\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    return snippet.matcher(Files.readString(page)).results().map(found -> found.group(1)).toList();
  }

  /** Returns whether a file of a folder contains these lines, whatever their indentation. */
  public static boolean isCut(String snippet, Path folder) throws IOException {
    return RepositoryRoot.files(folder, "").stream().anyMatch(source -> isCutFrom(snippet, source));
  }

  /** Returns whether a file contains these lines, whatever their indentation. */
  public static boolean isCutFrom(String snippet, Path source) {
    try {
      return contains(lines(Files.readString(source)), lines(snippet));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the lines of a text. */
  public static List<String> lines(String text) {
    return text.lines().toList();
  }

  private static boolean contains(List<String> source, List<String> snippet) {
    String wanted = unindented(snippet);
    for (int i = 0; i + snippet.size() <= source.size(); i++) {
      if (unindented(source.subList(i, i + snippet.size())).equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  private static String unindented(List<String> lines) {
    return String.join("\n", lines).stripIndent();
  }
}
