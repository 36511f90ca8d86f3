package io.github.grpcidempotency.postgres;

import com.google.common.io.Resources;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** The library's migrations, as files for any tool. */
final class MigrationFiles {
  private MigrationFiles() {}

  /** Returns their directory. */
  static Path directory() throws URISyntaxException {
    return Path.of(Resources.getResource(PostgresIdempotencyStore.class, "migration").toURI());
  }

  /** Returns them by their versions. */
  static List<Path> inOrder() throws IOException, URISyntaxException {
    try (Stream<Path> files = Files.list(directory())) {
      return files
          .sorted(Comparator.comparingInt(file -> version(file.getFileName().toString())))
          .toList();
    }
  }

  /** Runs them with nothing but JDBC. */
  static void run(DataSource owner) throws IOException, SQLException, URISyntaxException {
    try (Connection connection = owner.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA idempotency");
      for (Path file : inOrder()) {
        statement.execute(Files.readString(file).replace("${schema}", "idempotency"));
      }
    }
  }

  private static int version(String name) {
    return Integer.parseInt(name.substring(1, name.indexOf("__")));
  }
}
