package io.github.grpcidempotency.torture;

import com.google.common.io.Resources;
import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.test.RepositoryRoot;
import io.github.grpcidempotency.torture.Mutant.Edit;
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
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * A version of the library, with its own migrations.
 *
 * @param classPath the class path of its servers
 */
record LibraryVersion(String classPath) {
  private static final Path REPOSITORY = RepositoryRoot.PATH;
  private static final String MIGRATIONS = "io/github/grpcidempotency/postgres/migration";

  /** Returns the version of this checkout. */
  static LibraryVersion current() {
    return new LibraryVersion(System.getProperty("java.class.path"));
  }

  /**
   * Returns the version of this checkout with one more migration, without which its servers do not
   * start.
   *
   * @param directory where the parts that differ are put
   */
  static LibraryVersion next(Path directory) {
    Mutant next =
        Mutant.of(
            List.of(
                Edit.store(
                    "internal/check/SchemaCheck", "NEEDED_VERSION = 2", "NEEDED_VERSION = 4")),
            List.of(),
            directory);
    Path migration = next.overlay().resolve(MIGRATIONS).resolve("V4__made_up.sql");
    try {
      Files.createDirectories(migration.getParent());
      Resources.asByteSource(Resources.getResource(LibraryVersion.class, "made_up_v4.sql"))
          .copyTo(com.google.common.io.Files.asByteSink(migration.toFile()));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return new LibraryVersion(next.overlay() + File.pathSeparator + current().classPath());
  }

  /**
   * Returns an earlier version, which is built once, in a directory under {@code target}, from the
   * repository's history.
   *
   * @param revision a commit or a tag
   * @throws IllegalStateException if the history does not contain it, as in a shallow clone
   */
  static LibraryVersion of(String revision) {
    Ran found = run(REPOSITORY, Program.GIT, "rev-parse", "--verify", revision + "^{commit}");
    if (found.exitCode() != 0) {
      throw new IllegalStateException("there is no revision " + revision + ": " + found.output());
    }
    String commit = found.output().strip();
    Path sources = Path.of("target", "torture", "previous", commit).toAbsolutePath();
    Path torture = sources.resolve("verification/torture/target");
    Path dependencies = torture.resolve("class-path.txt");
    try {
      if (!Files.exists(dependencies)) {
        Files.createDirectories(sources);
        Path archive = sources.resolve("sources.tar");
        demand(REPOSITORY, Program.GIT, "archive", "--output=" + archive, commit);
        demand(sources, Program.TAR, "xf", archive.toString());
        compile(sources);
      }
      return new LibraryVersion(
          torture.resolve("test-classes")
              + File.pathSeparator
              + Files.readString(dependencies).strip());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The class path is written last. */
  private static void compile(Path sources) {
    demand(
        sources,
        Program.MVN,
        "-B",
        "-q",
        "-o",
        "-pl",
        "verification/torture",
        "-am",
        "-Dspotless.check.skip",
        "test-compile",
        "dependency:build-classpath",
        "-Dmdep.outputFile=target/class-path.txt");
  }

  /** Migrates with the Flyway and the files of this version. */
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
      throw new IllegalStateException("this version does not migrate", failure.getCause());
    } catch (ReflectiveOperationException absent) {
      throw new IllegalStateException("this version has no such migration", absent);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Shares nothing with the loader of the tests but the JDK. */
  private URLClassLoader loader() {
    URL[] urls =
        Stream.of(classPath.split(File.pathSeparator)).map(LibraryVersion::url).toArray(URL[]::new);
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

  private static void demand(Path directory, Program program, String... arguments) {
    Ran ran = run(directory, program, arguments);
    if (ran.exitCode() != 0) {
      throw new IllegalStateException(
          "%s %s failed: %s".formatted(program, String.join(" ", arguments), ran.output()));
    }
  }

  private static Ran run(Path directory, Program program, String... arguments) {
    try {
      Process process =
          program
              .process(arguments)
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
