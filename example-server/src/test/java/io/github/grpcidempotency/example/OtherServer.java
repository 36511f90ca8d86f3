package io.github.grpcidempotency.example;

import io.github.grpcidempotency.example.run.Database;
import io.github.grpcidempotency.example.run.RunningServer;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.fault.ServerProcess;
import java.util.concurrent.CompletableFuture;

/** A second server, in a process that can be killed or frozen. No machine is ever sold to it. */
record OtherServer(ServerProcess process, TestClient client, int metricsPort)
    implements AutoCloseable {
  private static final String PORT = "port ";
  private static final String METRICS = "metrics ";

  /**
   * Starts it.
   *
   * @param metricsPort 0 for any free port
   */
  static OtherServer start(String url, int metricsPort) {
    ServerProcess process =
        ServerProcess.start(OtherServer.class, url, String.valueOf(metricsPort));
    return new OtherServer(
        process,
        new TestClient(Integer.parseInt(process.awaitLine(PORT))),
        Integer.parseInt(process.awaitLine(METRICS)));
  }

  /** The process: the URL of the database, and the port for metrics. */
  public static void main(String... arguments) throws InterruptedException {
    Settings settings =
        RunningExample.settings(
            RunningExample.secrets(), (region, key) -> new CompletableFuture<String>().join());
    RunningServer server =
        RunningServer.start(0, Integer.parseInt(arguments[1]), settings, Database.at(arguments[0]));
    System.out.println(PORT + server.port());
    System.out.println(METRICS + server.metricsPort());
    server.awaitTermination();
  }

  @Override
  public void close() {
    client.close();
    process.close();
  }
}
