package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Starts databases that are migrated already. In each JVM one is set up and migrated, and the
 * others are copies of its files: that takes a tenth of the time.
 */
public final class MigratedDatabase {
  private MigratedDatabase() {}

  /** Starts a separate database. Its files are deleted when it is closed. */
  public static EmbeddedDatabase start() {
    Path directory = newDirectory();
    copy(Template.DIRECTORY, directory);
    return EmbeddedDatabase.startTemporary(directory);
  }

  /** Starts one with its files in an empty directory, where they stay. */
  static EmbeddedDatabase startIn(Path directory) {
    copy(Template.DIRECTORY, directory);
    return EmbeddedDatabase.start(directory);
  }

  private static Path newDirectory() {
    try {
      return Files.createTempDirectory("migrated-database");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static void copy(Path from, Path to) {
    try (Stream<Path> files = Files.walk(from)) {
      List<Path> parentsFirst = files.skip(1).toList();
      for (Path file : parentsFirst) {
        Path copy = to.resolve(from.relativize(file));
        Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Made when it is first asked for, and deleted with the JVM's end. */
  private static final class Template {
    static final Path DIRECTORY = migrate();

    private static Path migrate() {
      Path directory = newDirectory();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
      try (EmbeddedDatabase database = EmbeddedDatabase.start(directory)) {
        database.migrate();
      }
      return directory;
    }

    private static void delete(Path directory) {
      try (Stream<Path> files = Files.walk(directory)) {
        List<Path> childrenFirst = files.sorted(Comparator.reverseOrder()).toList();
        for (Path file : childrenFirst) {
          Files.deleteIfExists(file);
        }
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }
}
