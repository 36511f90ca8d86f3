package io.github.grpcidempotency.example.provider;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/** The provider on a port that only this machine can reach. */
public final class MachineShop implements AutoCloseable {
  private static final Duration DELAY = Duration.ofMillis(300);

  private final Server server;

  private MachineShop(Server server) {
    this.server = server;
  }

  /**
   * Starts the provider.
   *
   * @param port 0 for any free port
   * @param sales a directory for the sales, which is made if missing; only one provider at a time
   *     may use it
   * @throws IOException if it cannot listen on the port, or cannot write to the directory
   */
  public static MachineShop start(int port, Path sales) throws IOException {
    Server server =
        NettyServerBuilder.forAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                InsecureServerCredentials.create())
            .addService(new MachineSales(Sales.in(sales), DELAY))
            .addService(ProtoReflectionServiceV1.newInstance())
            .intercept(new PurchaseKey())
            .build();
    return new MachineShop(server.start());
  }

  /** Returns the port that it listens on. */
  public int port() {
    return server.getPort();
  }

  /** Returns the target for a client. */
  public String target() {
    return "localhost:" + port();
  }

  /** Blocks until the provider has stopped. */
  public void awaitTermination() throws InterruptedException {
    server.awaitTermination();
  }

  /** Stops at once. The sales are kept. */
  @Override
  public void close() {
    server.shutdownNow();
  }
}
