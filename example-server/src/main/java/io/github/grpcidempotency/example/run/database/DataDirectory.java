package io.github.grpcidempotency.example.run.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The directory of one embedded database, held by one server at a time.
 *
 * <p>The hold is a file lock, which the operating system takes back however the server ends. Who
 * holds it therefore knows that a PostgreSQL still running in here belongs to nobody.
 */
final class DataDirectory implements AutoCloseable {
  private final Path directory;
  private final FileChannel lockFile;

  private DataDirectory(Path directory, FileChannel lockFile) {
    this.directory = directory;
    this.lockFile = lockFile;
  }

  /**
   * Takes hold of a directory, which is created if need be.
   *
   * @throws StartupFailure if another server holds it, or it cannot be written to
   */
  static DataDirectory hold(Path path) {
    Path directory = path.toAbsolutePath().normalize();
    try {
      Files.createDirectories(directory);
      FileChannel lockFile =
          FileChannel.open(
              directory.resolve("server.lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      if (lock(lockFile).isEmpty()) {
        lockFile.close();
        throw new StartupFailure(
            "The data directory " + directory + " is in use by another example server.");
      }
      return new DataDirectory(directory, lockFile);
    } catch (IOException e) {
      throw StartupFailure.because("The data directory " + directory + " cannot be used", e);
    }
  }

  private static Optional<FileLock> lock(FileChannel lockFile) throws IOException {
    try {
      return Optional.ofNullable(lockFile.tryLock());
    } catch (OverlappingFileLockException e) {
      return Optional.empty();
    }
  }

  Path path() {
    return directory;
  }

  /** Where PostgreSQL keeps its files. */
  Path postgres() {
    return directory.resolve("postgres");
  }

  /** Returns whether PostgreSQL was set up here completely. */
  boolean isInitialized() {
    return Files.exists(postgres()) && Files.notExists(unfinished());
  }

  /** Notes that PostgreSQL is being set up, and clears away what a set-up cut short left behind. */
  void beginInitialization() {
    try {
      if (Files.exists(unfinished())) {
        deleteRecursively(postgres());
      } else {
        Files.createFile(unfinished());
      }
    } catch (IOException e) {
      throw StartupFailure.because("The data directory " + directory + " cannot be used", e);
    }
  }

  void finishInitialization() {
    try {
      Files.deleteIfExists(unfinished());
    } catch (IOException e) {
      throw StartupFailure.because("The data directory " + directory + " cannot be used", e);
    }
  }

  /** Deletes the directory with all data; it stays held until it is closed. */
  void delete() {
    try {
      deleteRecursively(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      lockFile.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path unfinished() {
    return directory.resolve("unfinished");
  }

  private static void deleteRecursively(Path root) throws IOException {
    if (Files.notExists(root)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  @Override
  public String toString() {
    return directory.toString();
  }
}
