package io.github.grpcidempotency.pages;

import io.github.grpcidempotency.test.Program;
import io.github.grpcidempotency.testing.PostgresFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A PostgreSQL on which a shop is made. */
record RunbookServer(String host, int port) {
  static final String SUPERUSER = "postgres";

  /** Starts when it is first needed. */
  private static final class Embedded {
    static final RunbookServer SERVER = startEmbedded();
  }

  /** Starts when it is first needed. */
  private static final class Installed {
    static final RunbookServer SERVER = startInstalled();
  }

  /** Returns the embedded one, which all tests of this JVM share. */
  static RunbookServer embedded() {
    return Embedded.SERVER;
  }

  /** Returns one of Debian's, which {@code pg_dump} can dump: both have the newest version. */
  static RunbookServer installed() {
    return Installed.SERVER;
  }

  private static RunbookServer startEmbedded() {
    PostgresFixture fixture = PostgresFixture.withRoles("runbook_owner", "runbook_app").create();
    URI url = URI.create(fixture.jdbcUrl(SUPERUSER).substring("jdbc:".length()));
    return new RunbookServer(url.getHost(), url.getPort());
  }

  /** It ends with this JVM. */
  private static RunbookServer startInstalled() {
    try {
      Path data = Files.createTempDirectory("runbook-postgres");
      Process initdb =
          run(
              data,
              Program.INITDB,
              "-D",
              data.resolve("data"),
              "-U",
              SUPERUSER,
              "-A",
              "trust",
              "-E",
              "UTF8",
              "--locale=C",
              "--no-sync");
      if (initdb.waitFor() != 0) {
        throw new IllegalStateException("initdb failed: " + Files.readString(data.resolve("log")));
      }
      int port = freePort();
      Process postgres =
          run(
              data,
              Program.POSTGRES,
              "-D",
              data.resolve("data"),
              "-p",
              port,
              "-k",
              data,
              "-c",
              "fsync=off");
      Runtime.getRuntime().addShutdownHook(new Thread(postgres::destroy));
      Awaitility.await("PostgreSQL").until(() -> answers(port));
      return new RunbookServer("localhost", port);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ended);
    }
  }

  /** PostgreSQL refuses to run as root, but not in a namespace where root has another name. */
  private static Process run(Path directory, Program program, Object... arguments)
      throws IOException {
    List<String> words = Stream.of(arguments).map(Object::toString).toList();
    ProcessBuilder builder = program.process(words);
    if (System.getProperty("user.name").equals("root")) {
      builder.command().addAll(0, List.of(Program.UNSHARE.path().toString(), "-U"));
    }
    return builder
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()))
        .start();
  }

  private static boolean answers(int port) {
    try (Connection connection = connect("localhost", port)) {
      return connection.isValid(1);
    } catch (SQLException notYet) {
      return false;
    }
  }

  private static Connection connect(String host, int port) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://%s:%d/postgres?user=%s".formatted(host, port, SUPERUSER));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
