package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.test.RepositoryRoot;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * The library as it was: its sources are taken from the repository's history, and built once, in a
 * directory under {@code target}.
 *
 * @param classPath of its servers
 */
record PreviousVersion(String classPath) {
  /** The last commit whose schema is an older one. */
  private static final String COMMIT = "553f2d1";

  /** The methods that it knows, but for FAIL_OPEN: it counts more failures as an outage. */
  static final Form[] FORMS = {
    Form.RESERVED,
    Form.JOINED,
    Form.JOINED_ATTACHED,
    Form.TRANSACTIONAL,
    Form.TRANSACTIONAL_ATTACHED
  };

  private static final Path REPOSITORY = RepositoryRoot.PATH;

  /** Builds it; empty if the history is not there, as in a shallow clone. */
  static Optional<PreviousVersion> build() {
    Ran found = run(REPOSITORY, List.of("git", "rev-parse", "--verify", COMMIT + "^{commit}"));
    if (found.exitCode() != 0) {
      return Optional.empty();
    }
    String commit = found.output().strip();
    Path sources = Path.of("target", "torture", "previous", commit).toAbsolutePath();
    Path torture = sources.resolve("torture").resolve("target");
    Path dependencies = torture.resolve("class-path.txt");
    try {
      if (!Files.exists(dependencies)) {
        Files.createDirectories(sources);
        Path archive = sources.resolve("sources.tar");
        demand(REPOSITORY, "git", "archive", "--output=" + archive, commit);
        demand(sources, "tar", "xf", archive.toString());
        compile(sources);
      }
      return Optional.of(
          new PreviousVersion(
              torture.resolve("test-classes")
                  + File.pathSeparator
                  + Files.readString(dependencies).strip()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The class path is written last. */
  private static void compile(Path sources) {
    demand(
        sources,
        "mvn",
        "-B",
        "-q",
        "-o",
        "-pl",
        "torture",
        "-am",
        "-Dspotless.check.skip",
        "test-compile",
        "dependency:build-classpath",
        "-Dmdep.outputFile=target/class-path.txt");
  }

  /** Migrates as that version does: with its own Flyway and its own files. */
  void migrate(DataSource owner) {
    try (URLClassLoader loader = loader()) {
      ClassLoader before = Thread.currentThread().getContextClassLoader();
      Thread.currentThread().setContextClassLoader(loader);
      try {
        loader
            .loadClass("io.github.grpcidempotency.postgres.IdempotencySchema")
            .getMethod("migrate", DataSource.class)
            .invoke(null, owner);
      } finally {
        Thread.currentThread().setContextClassLoader(before);
      }
    } catch (InvocationTargetException failure) {
      throw new IllegalStateException("the previous version does not migrate", failure.getCause());
    } catch (ReflectiveOperationException absent) {
      throw new IllegalStateException("the previous version is another than was thought", absent);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Shares nothing with this version but the JDK. */
  private URLClassLoader loader() {
    URL[] urls =
        Stream.of(classPath.split(File.pathSeparator))
            .map(PreviousVersion::url)
            .toArray(URL[]::new);
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private record Ran(int exitCode, String output) {}

  private static void demand(Path directory, String... command) {
    Ran ran = run(directory, List.of(command));
    if (ran.exitCode() != 0) {
      throw new IllegalStateException(
          "%s failed: %s".formatted(String.join(" ", command), ran.output()));
    }
  }

  private static Ran run(Path directory, List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Ran(process.waitFor(), output);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ended);
    }
  }
}
