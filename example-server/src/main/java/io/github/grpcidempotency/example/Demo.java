package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.cli.FileOptions;
import io.github.grpcidempotency.example.cli.Program;
import io.github.grpcidempotency.example.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.demo.DemoStory;
import io.github.grpcidempotency.example.server.Parts;
import io.github.grpcidempotency.example.server.PortCheck;
import io.github.grpcidempotency.example.server.RunningServer;
import io.github.grpcidempotency.example.server.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Starts the example server, and plays a client against it that loses a response. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Starts the example server on its embedded PostgreSQL and calls it over a socket: prints each step and what came back, and counts the rows in the database as proof. Exits with 0 only if all held.")
public final class Demo implements Callable<Integer> {
  private static final int WELL_KNOWN_PORT = 50051;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration OUTBOX_DELAY = Duration.ofSeconds(1);
  private static final Duration USAGE_PERIOD = Duration.ofDays(1);

  /** Warns of clients that are gone before they were answered, which the demo's are on purpose. */
  private static final Logger GRPC_CONNECTIONS =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

  @Option(names = "--serve", description = "keep the server up afterwards, until Ctrl-C")
  private boolean serve;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "where to listen (default: any free port; with --serve, 50051)")
  private Optional<Integer> port = Optional.empty();

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description =
          "where to keep the data, from one start to the next (default: a temporary directory)")
  private Optional<Path> dataDirectory = Optional.empty();

  /** Runs the demo. */
  public static void main(String... arguments) {
    System.exit(Program.run(new Demo(), arguments));
  }

  @Override
  public Integer call() throws InterruptedException {
    int listenOn = port.orElse(serve ? WELL_KNOWN_PORT : 0);
    PortCheck.requireFree(listenOn);
    GRPC_CONNECTIONS.setLevel(Level.SEVERE);
    try (Parts parts = Parts.closedOnShutdown()) {
      System.out.println("Starting PostgreSQL and the example server ...");
      EmbeddedDatabase database = parts.start(this::migratedDatabase);
      RunningServer server =
          parts.start(
              () -> RunningServer.start(settings(listenOn, database.directory()), database));
      System.out.println("listening on port " + server.port());
      boolean held = DemoStory.play(server.port(), database, System.out);
      if (held && serve) {
        System.out.printf("%nThe server stays up on port %d until Ctrl-C.%n", server.port());
        server.awaitTermination();
      }
      return held ? 0 : 1;
    }
  }

  private EmbeddedDatabase migratedDatabase() {
    EmbeddedDatabase database =
        dataDirectory.map(EmbeddedDatabase::start).orElseGet(EmbeddedDatabase::startTemporary);
    try {
      database.migrate();
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  private static Settings settings(int port, Path directory) {
    FileOptions files = new FileOptions();
    return new Settings(
        port,
        LEASE,
        OUTBOX_DELAY,
        USAGE_PERIOD,
        files.retentions(Optional.of(directory)),
        files.secrets(Optional.of(directory)));
  }
}
