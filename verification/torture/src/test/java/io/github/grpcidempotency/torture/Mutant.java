package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.joining;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The library with a fault: the parts that differ, to be put in front of a server's class path.
 *
 * @param overlay contains the classes and statements that differ
 * @param options of the second server's JVM
 */
record Mutant(Path overlay, List<String> options) {
  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /** Read once: opening all the jars takes longer than to compile a class. */
  private static final StandardJavaFileManager LIBRARY =
      COMPILER.getStandardFileManager(null, null, null);

  /**
   * One change of one source file or statement.
   *
   * @param sources a directory of the repository
   * @param file below it
   * @param from what is changed, wherever lines are broken and however they are indented
   */
  record Edit(String sources, String file, String from, String to) {
    private static final String ROOT = "io/github/grpcidempotency/";
    private static final Pattern TOKEN = Pattern.compile("\\w+|[^\\w\\s]");

    static Edit sql(String name, String from, String to) {
      return new Edit(
          "store-postgres/src/main",
          "resources/" + ROOT + "postgres/sql/" + name + ".sql",
          from,
          to);
    }

    static Edit store(String type, String from, String to) {
      return new Edit(
          "store-postgres/src/main", "java/" + ROOT + "postgres/" + type + ".java", from, to);
    }

    static Edit interceptor(String type, String from, String to) {
      return new Edit("interceptor/src/main", "java/" + ROOT + type + ".java", from, to);
    }

    static Edit operations(String type, String from, String to) {
      return new Edit(
          "extensions/long-running-operations/src/main",
          "java/" + ROOT + "longrunning/" + type + ".java",
          from,
          to);
    }

    /** An edit of the handlers, which make mistakes as well. */
    static Edit handlers(String type, String from, String to) {
      return new Edit(
          "verification/torture/src/test", "java/" + ROOT + "torture/" + type + ".java", from, to);
    }

    private Pattern pattern() {
      return Pattern.compile(
          TOKEN
              .matcher(from)
              .results()
              .map(MatchResult::group)
              .map(Pattern::quote)
              .collect(joining("\\s*")));
    }

    boolean isOfTheFileOf(Edit other) {
      return file.equals(other.file);
    }

    private Path source() {
      return RepositoryRoot.resolve(sources).resolve(file);
    }

    /** Returns the path of the changed file, below the overlay or the changed sources. */
    private String target() {
      return file.substring(file.indexOf('/') + 1);
    }
  }

  /** Makes the changes, compiles the changed classes, and puts everything into a directory. */
  static Mutant of(List<Edit> edits, List<String> options, Path directory) {
    try {
      if (Files.exists(directory)) {
        MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
      }
      Path overlay = Files.createDirectories(directory.resolve("overlay"));
      Path sources = Files.createDirectories(directory.resolve("sources"));
      List<String> toCompile = new ArrayList<>();
      for (Map.Entry<Edit, String> changed : change(edits).entrySet()) {
        boolean statement = changed.getKey().target().endsWith(".sql");
        Path file = (statement ? overlay : sources).resolve(changed.getKey().target());
        Files.createDirectories(file.getParent());
        Files.writeString(file, changed.getValue());
        if (!statement) {
          toCompile.add(file.toString());
        }
      }
      compile(toCompile, overlay);
      return new Mutant(overlay.toAbsolutePath(), options);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns the changed text of each file, by the file's first edit. */
  private static Map<Edit, String> change(List<Edit> edits) throws IOException {
    Map<String, Edit> firsts = new LinkedHashMap<>();
    Map<Edit, String> texts = new LinkedHashMap<>();
    for (Edit edit : edits) {
      Edit first = firsts.computeIfAbsent(edit.file(), file -> edit);
      String text = texts.containsKey(first) ? texts.get(first) : Files.readString(edit.source());
      Matcher found = edit.pattern().matcher(text);
      if (!found.find()) {
        throw new IllegalStateException(
            "%s has changed, and cannot be broken like this any more".formatted(edit.file()));
      }
      texts.put(first, found.replaceAll(Matcher.quoteReplacement(edit.to())));
    }
    return texts;
  }

  private static void compile(List<String> sources, Path target) {
    if (sources.isEmpty()) {
      return;
    }
    List<String> options =
        List.of(
            "-proc:none",
            "-nowarn",
            "-d",
            target.toString(),
            "-cp",
            System.getProperty("java.class.path"));
    boolean compiles =
        COMPILER
            .getTask(
                null, LIBRARY, null, options, null, LIBRARY.getJavaFileObjectsFromStrings(sources))
            .call();
    if (!compiles) {
      throw new IllegalStateException("the mutant does not compile");
    }
  }
}
