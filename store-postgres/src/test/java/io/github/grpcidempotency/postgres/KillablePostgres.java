package io.github.grpcidempotency.postgres;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A database server of one test's own that is killed or stopped, and comes back where it was. What
 * it has confirmed survives. Commits wait for no standby. Not thread-safe.
 */
final class KillablePostgres implements AutoCloseable {
  private final Path data;
  private final int port;
  private EmbeddedPostgres server;

  private KillablePostgres(Path data, int port) {
    this.data = data;
    this.port = port;
    this.server = launch();
  }

  /** Starts a server in an empty folder. */
  static KillablePostgres in(Path data) {
    return new KillablePostgres(data, freePort());
  }

  private static int freePort() {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  EmbeddedPostgres server() {
    return server;
  }

  /** Kills it, and waits until all of its processes are gone. */
  void kill() {
    try {
      long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip());
      ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
      List<ProcessHandle> all = new ArrayList<>(postmaster.descendants().toList());
      all.add(postmaster);
      postmaster.destroyForcibly();
      all.forEach(process -> process.onExit().orTimeout(60, TimeUnit.SECONDS).join());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Starts it again, after it was killed or stopped. */
  void restart() {
    stop();
    server = launch();
  }

  private EmbeddedPostgres launch() {
    try {
      return EmbeddedPostgres.builder()
          .setPGStartupWait(Duration.ofMinutes(1))
          .setPort(port)
          .setDataDirectory(data)
          .setCleanDataDirectory(false)
          .setServerConfig("synchronous_commit", "local")
          .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Stops it in an orderly way. */
  void stop() {
    try {
      server.close();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public void close() {
    stop();
  }
}
