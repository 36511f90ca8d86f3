package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.client.ServiceConfigs;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** One of the two servers. It can be killed, and started again on another port. */
final class Backend implements AutoCloseable {
  private final String name;
  private final String jdbcUrl;
  private CompletableFuture<Running> running;

  private record Running(Child process, ManagedChannel channel) {}

  /** Begins to start a server. */
  Backend(String name, String jdbcUrl) {
    this.name = name;
    this.jdbcUrl = jdbcUrl;
    this.running = Threads.supply(this::launch);
  }

  /** Starts a server. Its channel repeats the calls of one service if the server requests it. */
  private Running launch() {
    Child process = Child.start(ServerProcess.class, jdbcUrl);
    int port = Integer.parseInt(process.greeting());
    return new Running(
        process,
        Grpc.newChannelBuilderForAddress("localhost", port, InsecureChannelCredentials.create())
            .defaultServiceConfig(ServiceConfigs.of(ProjectServiceGrpc.getServiceDescriptor()))
            .build());
  }

  /** Waits until the server has started. */
  Backend await() {
    running.join();
    return this;
  }

  long pid() {
    return running.join().process().pid();
  }

  DemoClient client(UUID user) {
    return new DemoClient(user, running.join().channel());
  }

  /** Kills the server with SIGKILL. */
  void kill() {
    running.join().process().kill();
  }

  /** Begins to start another server in the place of the killed one. */
  void restart() {
    close();
    running = Threads.supply(this::launch);
  }

  @Override
  public void close() {
    running
        .handle(
            (server, failure) -> {
              if (server != null) {
                server.channel().shutdownNow();
                server.process().kill(); // nobody waits for its calls
              }
              return failure;
            })
        .join();
  }

  @Override
  public String toString() {
    return name;
  }
}
