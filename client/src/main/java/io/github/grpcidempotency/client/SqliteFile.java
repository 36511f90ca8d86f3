package io.github.grpcidempotency.client;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;

/**
 * A SQLite file with the table of intents. Each connection is opened for one transaction, so there
 * is no pool to close.
 */
final class SqliteFile {
  /** How long a statement waits for another process's transaction. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** SQLITE_OPEN_READWRITE: a missing file is an error, and is not created. */
  private static final String READ_AND_WRITE = "2";

  private SqliteFile() {}

  /**
   * Opens a file, creates the file and the table if they do not exist, and returns a source of
   * connections.
   */
  static IntentStore.Connections open(Path file) throws SQLException {
    String url = "jdbc:sqlite:" + resolve(file);
    requireDriver(url);
    Properties settings = new Properties();
    settings.setProperty("open_mode", READ_AND_WRITE);
    settings.setProperty("busy_timeout", Long.toString(PATIENCE.toMillis()));
    // With EXTRA, a commit survives a power failure, because the deletion of the journal is
    // synchronized too.
    settings.setProperty("synchronous", "EXTRA");
    try (Connection connection = DriverManager.getConnection(url, settings);
        Statement create = connection.createStatement()) {
      create.executeUpdate(IntentSql.read("sqlite"));
    }
    return () -> DriverManager.getConnection(url, settings);
  }

  /** Returns the real path of the file, so that all processes use the same path for the journal. */
  private static Path resolve(Path file) throws SQLException {
    try {
      create(file);
      Path real = file.toRealPath();
      if (links(real) > 1) {
        throw new SQLException(
            real
                + " has hard links, so SQLite may not find its journal: copy the file, and use"
                + " the copy");
      }
      return real;
    } catch (IOException failure) {
      throw new SQLException(file + " cannot be opened or created: " + failure, failure);
    }
  }

  private static void create(Path file) throws IOException {
    try {
      Path unused = Files.createFile(file, ownerOnly(file));
    } catch (FileAlreadyExistsException exists) {
      // The existing file is opened.
    }
  }

  private static FileAttribute<?>[] ownerOnly(Path file) {
    return has(file, "posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  private static int links(Path file) throws IOException {
    return has(file, "unix") ? (int) Files.getAttribute(file, "unix:nlink") : 1;
  }

  private static boolean has(Path file, String view) {
    return file.getFileSystem().supportedFileAttributeViews().contains(view);
  }

  private static void requireDriver(String url) throws SQLException {
    try {
      DriverManager.getDriver(url);
    } catch (SQLException missing) {
      throw new SQLException(
          "no JDBC driver for SQLite is on the class path: add org.xerial:sqlite-jdbc", missing);
    }
  }
}
