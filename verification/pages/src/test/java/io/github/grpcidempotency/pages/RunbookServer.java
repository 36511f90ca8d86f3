package io.github.grpcidempotency.pages;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.awaitility.Awaitility;

/**
 * A PostgreSQL on which a shop is made.
 *
 * @param major its version
 */
record RunbookServer(String host, int port, int major) {
  static final String SUPERUSER = "postgres";
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Starts when it is first needed. */
  private static final class Embedded {
    static final RunbookServer SERVER = startEmbedded();
  }

  /** Starts when it is first needed. */
  private static final class ForDumps {
    static final Optional<RunbookServer> SERVER = startForDumps();
  }

  /** Returns the embedded one, which all tests of this JVM share. */
  static RunbookServer embedded() {
    return Embedded.SERVER;
  }

  /**
   * Returns one that the installed {@code pg_dump} knows: the embedded one, or one of Debian's,
   * which is then started. Empty if there is none.
   */
  static Optional<RunbookServer> forDumps() {
    return ForDumps.SERVER;
  }

  private static RunbookServer startEmbedded() {
    PostgresFixture fixture = PostgresFixture.withRoles("runbook_owner", "runbook_app").create();
    URI url = URI.create(fixture.jdbcUrl(SUPERUSER).substring("jdbc:".length()));
    return at(url.getHost(), url.getPort());
  }

  private static Optional<RunbookServer> startForDumps() {
    OptionalInt known = Tools.major("pg_dump");
    if (known.isEmpty() || known.getAsInt() >= embedded().major()) {
      return known.isEmpty() ? Optional.empty() : Optional.of(embedded());
    }
    Path programs = Path.of("/usr/lib/postgresql", Integer.toString(known.getAsInt()), "bin");
    return Files.isExecutable(programs.resolve("initdb"))
        ? Optional.of(startInstalled(programs))
        : Optional.empty();
  }

  /** It ends with this JVM. */
  private static RunbookServer startInstalled(Path programs) {
    try {
      Path data = Files.createTempDirectory("runbook-postgres");
      Process initdb =
          run(
              data,
              programs.resolve("initdb"),
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
              programs.resolve("postgres"),
              "-D",
              data.resolve("data"),
              "-p",
              port,
              "-k",
              data,
              "-c",
              "fsync=off");
      Runtime.getRuntime().addShutdownHook(new Thread(postgres::destroy));
      Awaitility.await("PostgreSQL").atMost(PATIENCE).until(() -> answers(port));
      return at("localhost", port);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(ended);
    }
  }

  /** PostgreSQL refuses to run as root, but not in a namespace where root has another name. */
  private static Process run(Path directory, Object... words) throws IOException {
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      command.addAll(List.of("unshare", "-U"));
    }
    for (Object word : words) {
      command.add(word.toString());
    }
    return new ProcessBuilder(command)
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

  private static RunbookServer at(String host, int port) {
    try (Connection connection = connect(host, port)) {
      return new RunbookServer(host, port, connection.getMetaData().getDatabaseMajorVersion());
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
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
