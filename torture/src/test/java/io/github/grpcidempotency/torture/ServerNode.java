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
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A server's place: its name, its way to the database, and whichever process runs there now. Faults
 * of the process hold {@link #fault}, so that a server is not killed while it is stopped.
 */
final class ServerNode implements AutoCloseable {
  private static final int MOST_STARTS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(40);

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
    start(Duration.ZERO);
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
    start(skew);
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

  /** A process that does not get to serve, as one with another clock may, is replaced. */
  private void start(Duration skew) {
    for (int tries = 0; tries < MOST_STARTS; tries++) {
      process = ServerJvm.start("server-" + index, recipe, skew, options);
      OptionalInt port = process.awaitPort(PATIENCE);
      if (port.isPresent()) {
        channel = connect(port.getAsInt());
        serving = true;
        return;
      }
      process.kill();
    }
    throw new IllegalStateException("server %d does not start".formatted(index));
  }

  private static ManagedChannel connect(int port) {
    return NettyChannelBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
        .usePlaintext()
        .disableRetry()
        .executor(CALLBACKS)
        .idleTimeout(1, TimeUnit.HOURS)
        .build();
  }
}
