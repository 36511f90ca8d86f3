package io.github.grpcidempotency.example.run.command;

import io.github.grpcidempotency.example.provider.MachineShop;
import io.github.grpcidempotency.example.run.database.StartupFailure;
import io.github.grpcidempotency.example.service.background.Parts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Stands in for a cloud provider until it is told to stop. */
@Command(
    name = "provider",
    description =
        "Stands in for the cloud provider from which \"serve --provider\" buys machines, in a separate process: it goes on when a server is killed. Listens on this machine only.",
    footer =
        "The answer to the first sale in a region may be lost: if its name starts with \"flaky-\" it is an error, and with \"lost-\" it never comes.")
public final class Provide implements Callable<Integer> {
  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "50052",
      description = "where to listen, 0 for any free port (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      defaultValue = "provider-data",
      description =
          "where it keeps what it has sold, from one start to the next (default: ${DEFAULT-VALUE})")
  private Path directory = Path.of("provider-data");

  @Override
  public Integer call() throws InterruptedException {
    try (Parts parts = Parts.closedOnShutdown()) {
      MachineShop shop = parts.start(this::start);
      System.out.println("listening on port " + shop.port());
      shop.awaitTermination();
      return 0;
    }
  }

  private MachineShop start() {
    try {
      return MachineShop.start(port, directory);
    } catch (IOException | IllegalArgumentException e) {
      throw StartupFailure.because("The provider cannot be started on port " + port, e);
    }
  }
}
