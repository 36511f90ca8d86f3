package io.github.grpcidempotency.example.run.database;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The directory of one embedded database. Only one server at a time can hold it.
 *
 * <p>The server holds it by a file lock, which the operating system releases however the server
 * ends. A server that holds it therefore knows that a PostgreSQL still running in it belongs to no
 * other server.
 */
final class DataDirectory implements AutoCloseable {
  private final Path directory;
  private final FileChannel lockFile;

  private DataDirectory(Path directory, FileChannel lockFile) {
    this.directory = directory;
    this.lockFile = lockFile;
  }

  /**
   * Locks a directory, which is created if necessary.
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

  /**
   * Notes that PostgreSQL is being set up, unless it is set up already, and deletes what an
   * interrupted set-up has left behind.
   */
  void beginInitialization() throws IOException {
    if (Files.exists(unfinished())) {
      delete(postgres());
    } else if (Files.notExists(postgres())) {
      Files.createFile(unfinished());
    }
  }

  void finishInitialization() throws IOException {
    Files.deleteIfExists(unfinished());
  }

  private Path unfinished() {
    return directory.resolve("unfinished");
  }

  /** Deletes the directory with all data; it stays held until it is closed. */
  void delete() throws IOException {
    delete(directory);
  }

  private static void delete(Path files) throws IOException {
    if (Files.exists(files)) {
      MoreFiles.deleteRecursively(files, RecursiveDeleteOption.ALLOW_INSECURE);
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

  @Override
  public String toString() {
    return directory.toString();
  }
}
