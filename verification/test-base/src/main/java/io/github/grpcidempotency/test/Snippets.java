package io.github.grpcidempotency.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

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
      return isCutFrom(snippet, lines(Files.readString(source)));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns whether lines contain these lines, whatever their indentation. */
  public static boolean isCutFrom(String snippet, List<String> source) {
    List<String> lines = lines(snippet);
    String first = lines.get(0).strip();
    return IntStream.rangeClosed(0, source.size() - lines.size())
        .filter(start -> source.get(start).strip().equals(first))
        .mapToObj(start -> source.subList(start, start + lines.size()))
        .anyMatch(part -> unindented(part).equals(unindented(lines)));
  }

  public static List<String> lines(String text) {
    return text.lines().toList();
  }

  private static String unindented(List<String> lines) {
    return String.join("\n", lines).stripIndent();
  }
}
