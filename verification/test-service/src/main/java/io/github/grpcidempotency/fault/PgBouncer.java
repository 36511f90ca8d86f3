package io.github.grpcidempotency.fault;

import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A real PgBouncer in front of PostgreSQL, pooling transactions. It shares few server connections
 * among many clients, so that state that a client leaves on a connection soon affects another
 * client.
 */
public final class PgBouncer implements AutoCloseable {
  private final URI target;
  private final int port;
  private final Process process;

  private PgBouncer(URI target, int serverConnections) throws IOException {
    this.target = target;
    this.port = freePort();
    Path directory = Files.createTempDirectory("pgbouncer");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path users = Files.writeString(directory.resolve("users.txt"), "\"things_app\" \"\"\n");
    Path settings =
        Files.writeString(
            directory.resolve("pgbouncer.ini"), settings(target, port, users, serverConnections));
    this.process =
        Program.PGBOUNCER
            .process(arguments(settings))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("pgbouncer.log").toFile())
            .start();
    await("pgbouncer").until(this::listens);
  }

  /**
   * Starts a PgBouncer in front of the server of a JDBC URL.
   *
   * @param serverConnections how many connections it keeps to the server
   */
  public static PgBouncer before(String jdbcUrl, int serverConnections) {
    try {
      return new PgBouncer(URI.create(jdbcUrl.substring("jdbc:".length())), serverConnections);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Returns the JDBC URL of the same database through the pooler, with the settings that a pooler
   * needs.
   */
  public String jdbcUrl() {
    return "jdbc:postgresql://127.0.0.1:%d%s?%s&prepareThreshold=0"
        .formatted(port, target.getPath(), target.getQuery());
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }

  private static String settings(URI target, int port, Path users, int serverConnections) {
    return """
    [databases]
    * = host=127.0.0.1 port=%d

    [pgbouncer]
    listen_addr = 127.0.0.1
    listen_port = %d
    unix_socket_dir =
    auth_type = trust
    auth_file = %s
    pool_mode = transaction
    default_pool_size = %d
    max_client_conn = 200
    ignore_startup_parameters = extra_float_digits
    """
        .formatted(target.getPort(), port, users, serverConnections);
  }

  /** PgBouncer refuses to run as root. */
  private static List<String> arguments(Path settings) {
    return System.getProperty("user.name").equals("root")
        ? List.of("-u", "nobody", settings.toString())
        : List.of(settings.toString());
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private boolean listens() {
    if (!process.isAlive()) {
      throw new IllegalStateException("pgbouncer has exited with " + process.exitValue());
    }
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 500);
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }
}
