package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.FaultProxy;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A server's place: its name, its way to the database, and whichever process runs there now. Faults
 * of the process hold {@link #fault}, so that a server is not killed while it is stopped.
 */
final class ServerNode implements AutoCloseable {
  /** Outlives every channel: a call that was begun on one that is shut down ends here. */
  private static final Executor CALLBACKS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "callbacks");
            thread.setDaemon(true);
            return thread;
          });

  private final int index;
  private final FaultProxy proxy;
  private final ServerJvm.Recipe recipe;
  private final List<String> options;
  private final ReentrantLock fault = new ReentrantLock();

  private volatile ServerJvm process;
  private volatile ManagedChannel channel;
  private volatile boolean serving;

  ServerNode(
      int index,
      String appUrl,
      Duration lease,
      Optional<Path> overlay,
      Path log,
      List<String> options) {
    this.index = index;
    this.proxy = FaultProxy.before(appUrl);
    this.recipe = new ServerJvm.Recipe(proxy.jdbcUrl(), lease, overlay, log);
    this.options = options;
    this.process = start(Duration.ZERO);
    this.channel = connect();
    this.serving = true;
  }

  int index() {
    return index;
  }

  FaultProxy proxy() {
    return proxy;
  }

  ManagedChannel channel() {
    return channel;
  }

  /** Whether a process is there that serves, as far as is known. */
  boolean isServing() {
    return serving;
  }

  ReentrantLock fault() {
    return fault;
  }

  void kill() {
    serving = false;
    process.kill();
  }

  /** Starts another process after a kill, and waits until it serves. */
  void restart(Duration skew) {
    channel.shutdown();
    process = start(skew);
    channel = connect();
    serving = true;
  }

  void stop() {
    process.stop();
  }

  void resume() {
    process.resume();
  }

  @Override
  public void close() {
    serving = false;
    channel.shutdownNow();
    process.kill();
    proxy.close();
  }

  private ServerJvm start(Duration skew) {
    return ServerJvm.start("server-" + index, recipe, skew, options);
  }

  private ManagedChannel connect() {
    int port = process.awaitPort();
    return NettyChannelBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .usePlaintext()
        .disableRetry()
        .executor(CALLBACKS)
        .idleTimeout(1, TimeUnit.HOURS)
        .build();
  }
}
