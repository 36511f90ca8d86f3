package io.github.grpcidempotency.grpc;

import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.net.SocketAddress;

/** The ways in which calls reach a server. */
enum Transport {
  IN_PROCESS,
  /** Handlers run on the transport's own thread: what blocks there, blocks the transport. */
  DIRECT_EXECUTOR,
  LOOPBACK;

  ServerBuilder<?> newServer() {
    return switch (this) {
      case IN_PROCESS -> InProcessServerBuilder.forName(InProcessServerBuilder.generateName());
      case DIRECT_EXECUTOR ->
          InProcessServerBuilder.forName(InProcessServerBuilder.generateName()).directExecutor();
      case LOOPBACK -> Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create());
    };
  }

  ManagedChannel connect(Server server) {
    if (this == LOOPBACK) {
      return Grpc.newChannelBuilderForAddress(
              "localhost", server.getPort(), InsecureChannelCredentials.create())
          .build();
    }
    SocketAddress address = server.getListenSockets().get(0);
    return InProcessChannelBuilder.forAddress(address).build();
  }
}
