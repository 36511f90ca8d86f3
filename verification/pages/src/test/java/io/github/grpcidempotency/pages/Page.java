package io.github.grpcidempotency.pages;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation.
 *
 * @param text its Markdown
 */
record Page(String name, String text) {
  private static final Path DOCS = RepositoryRoot.resolve("docs");
  private static final Pattern FENCED = Pattern.compile("(?ms)^( *)```(\\S*) *\\n(.*?)^\\1```$");
  private static final Pattern HEADER =
      Pattern.compile("\\A-- as (?:a (superuser)|(\\w+))(?:, in the database (\\w+))?\\n");
  private static final Set<String> SHELL = Set.of("sh", "console");

  /** What a reader is told to run. */
  sealed interface Block {
    /**
     * Statements.
     *
     * @param role whose; {@code superuser} for any superuser
     * @param database {@code shop} unless the block says otherwise
     */
    record Sql(String role, String database, String statements) implements Block {}

    record Shell(List<String> lines) implements Block {}
  }

  /** Reads a page below {@code docs}. */
  static Page read(String name) {
    return new Page(name, Text.read(DOCS.resolve(name)));
  }

  /** Returns the section under a heading of the second level. */
  Page section(String heading) {
    String[] parts = text.split("\\n## " + heading + "\\n", 2);
    if (parts.length < 2) {
      throw new IllegalArgumentException(name + " has no section " + heading);
    }
    return new Page(name + ", " + heading, parts[1].split("\\n## ", 2)[0]);
  }

  /** Returns the names of all pages in a folder below {@code docs}. */
  static List<String> names(String folder) {
    try (Stream<Path> pages = Files.list(DOCS.resolve(folder))) {
      return pages.map(page -> folder + "/" + page.getFileName()).sorted().toList();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns what is to be run, in its order. */
  List<Block> blocks() {
    List<Block> blocks = new ArrayList<>();
    Matcher fenced = FENCED.matcher(text);
    while (fenced.find()) {
      String language = fenced.group(2);
      String block = fenced.group(3).indent(-fenced.group(1).length());
      if (language.equals("sql")) {
        blocks.add(sql(block));
      } else if (SHELL.contains(language)) {
        blocks.add(new Block.Shell(lines(block)));
      } else if (language.isEmpty()) {
        // A query of a monitoring system, or the command itself.
        blocks.add(
            new Block.Shell(
                lines(block).stream().filter(line -> line.startsWith("idempotency ")).toList()));
      }
    }
    return blocks;
  }

  private Block.Sql sql(String block) {
    Matcher header = HEADER.matcher(block);
    if (!header.find()) {
      throw new IllegalStateException(name + " does not say as whom to run: " + block);
    }
    return new Block.Sql(
        header.group(1) == null ? header.group(2) : header.group(1),
        header.group(3) == null ? "shop" : header.group(3),
        block.substring(header.end()));
  }

  /** A line that ends with a backslash goes on in the next. */
  private static List<String> lines(String block) {
    return block
        .replaceAll("\\\\\\n *", "")
        .lines()
        .map(line -> line.replaceFirst("^\\$ ", "").replaceFirst("\\s+#.*$", "").strip())
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .toList();
  }
}
