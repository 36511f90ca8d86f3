package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.run.server.RunningServer;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Parts;
import io.github.grpcidempotency.example.service.organization.CloudProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine.Command;

/** Starts the example server, and plays a client against it that loses a response. */
@Command(
    name = "demo",
    description =
        "Starts the example server on a PostgreSQL of its own and calls it over a socket: prints each step and what came back, and counts the rows in the database as proof. Exits with 0 only if all held.")
public final class Demo implements Callable<Integer> {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration OUTBOX_DELAY = Duration.ofSeconds(1);
  private static final Duration USAGE_PERIOD = Duration.ofDays(1);

  /**
   * Warns about clients that leave before they are answered. The demo's clients do so on purpose.
   */
  private static final Logger GRPC_CONNECTIONS =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

  @Override
  public Integer call() {
    GRPC_CONNECTIONS.setLevel(Level.SEVERE);
    try (Parts parts = Parts.closedOnShutdown()) {
      System.out.println("Starting PostgreSQL and the example server ...");
      EmbeddedDatabase database = parts.start(EmbeddedDatabase::startTemporary);
      database.migrate();
      DataFiles files = new DataFiles(database.directory());
      MachineShop shop = parts.start(() -> open(files.machines()));
      CloudProvider cloud = parts.start(() -> CloudProvider.at(shop.target()));
      Settings settings =
          new Settings(
              LEASE, OUTBOX_DELAY, USAGE_PERIOD, files.retentions(), files.secrets(), cloud);
      RunningServer server = parts.start(() -> RunningServer.start(0, settings, database));
      System.out.println("listening on port " + server.port());
      boolean held = DemoStory.play(server, shop, database, System.out);
      return held ? 0 : 1;
    }
  }

  private static MachineShop open(Path sales) {
    try {
      return MachineShop.start(0, sales);
    } catch (IOException e) {
      throw StartupFailure.because("The provider of machines cannot be started", e);
    }
  }
}
