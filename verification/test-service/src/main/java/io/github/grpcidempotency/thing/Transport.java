package io.github.grpcidempotency.thing;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** The ways in which calls reach a server. */
public enum Transport {
  IN_PROCESS,
  /**
   * Handlers run on the transport's own thread, so a handler that blocks there blocks the
   * transport.
   */
  DIRECT_EXECUTOR,
  LOOPBACK;

  ServerBuilder<?> newServer() {
    ServerBuilder<?> server =
        this == LOOPBACK
            ? NettyServerBuilder.forAddress(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            : InProcessServerBuilder.forName(InProcessServerBuilder.generateName());
    VirtualThreads.wanted().ifPresent(server::executor);
    return this == DIRECT_EXECUTOR ? server.directExecutor() : server;
  }

  ManagedChannel connect(Server server) {
    SocketAddress address = server.getListenSockets().get(0);
    return this == LOOPBACK
        ? NettyChannelBuilder.forAddress(address).usePlaintext().build()
        : InProcessChannelBuilder.forAddress(address).build();
  }
}
