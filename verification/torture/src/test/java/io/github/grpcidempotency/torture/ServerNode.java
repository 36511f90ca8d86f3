package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.FaultProxy;
import io.github.grpcidempotency.torture.History.Life;
import io.github.grpcidempotency.torture.ServerJvm.Greeting;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A server's place: its name, its way to the database, and the process that runs there now. Faults
 * of the process hold {@link #fault}, so that a server is not killed while it is stopped.
 */
final class ServerNode implements AutoCloseable {
  /** The database was read-only for a moment, which is a fault that it suffers. */
  private static final String READ_ONLY = "read-only";

  private static final int MAX_STARTS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  /** Outlives every channel: a call that was begun on one that is shut down ends here. */
  private static final Executor CALLBACKS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "callbacks");
            thread.setDaemon(true);
            return thread;
          });

  private final int index;
  private final Optional<FaultProxy> proxy;
  private final ServerJvm.Recipe recipe;
  private final Supplier<ServerLife> lives;
  private final List<String> options;
  private final ReentrantLock fault = new ReentrantLock();
  private final Queue<Life> lived = new ConcurrentLinkedQueue<>();

  private volatile ServerClasses classes;
  private volatile ServerJvm process;
  private volatile ManagedChannel channel;
  private volatile boolean serving;
  private volatile Optional<Life> life = Optional.empty();

  /**
   * Starts a server.
   *
   * @param classes its version of the library
   * @param road to its database
   * @param pastUrl a URL that bypasses all faults
   * @param lives how each of its processes is to be set up
   * @param options of its JVM
   */
  ServerNode(
      int index,
      ServerKind kind,
      ServerClasses classes,
      Road road,
      String pastUrl,
      Duration lease,
      Supplier<ServerLife> lives,
      Optional<Path> overlay,
      Path log,
      List<String> options) {
    this.index = index;
    this.classes = classes;
    this.proxy = road.proxied() ? Optional.of(FaultProxy.before(road.url())) : Optional.empty();
    String url = named(proxy.map(FaultProxy::jdbcUrl).orElse(road.url()), index);
    this.recipe = new ServerJvm.Recipe(kind, url, pastUrl, lease, overlay, log);
    this.lives = lives;
    this.options = Stream.concat(road.options().stream(), options.stream()).toList();
    start(Duration.ZERO);
  }

  /** Returns a URL whose connections tell whose they are. */
  private static String named(String url, int index) {
    return "%s%sApplicationName=%s".formatted(url, url.contains("?") ? "&" : "?", name(index));
  }

  /** Starts a server once, lets it serve, and closes it, so that later ones start more quickly. */
  static void archive(
      ServerKind kind,
      ServerClasses classes,
      Road road,
      String pastUrl,
      Duration lease,
      Path log,
      Consumer<ServerNode> use) {
    if (classes.isArchived()) {
      return;
    }
    ServerNode first =
        new ServerNode(
            0,
            kind,
            classes,
            road,
            pastUrl,
            lease,
            ServerLife::ordinary,
            Optional.empty(),
            log,
            classes.archivingOptions());
    use.accept(first);
    Optional<String> unused = first.process.close(PATIENCE);
    first.process.awaitEnd();
    first.close();
  }

  /** Returns what a server calls itself. */
  static String name(int index) {
    return "server-" + index;
  }

  int index() {
    return index;
  }

  /** Whether its connections can be broken. */
  boolean isProxied() {
    return proxy.isPresent();
  }

  /** Returns what can break its connections, where there is such a thing. */
  FaultProxy proxy() {
    return proxy.orElseThrow();
  }

  /** Forgets what has passed, so that it takes no space. */
  void forgetRoundTrips() {
    proxy.ifPresent(FaultProxy::forgetRoundTrips);
  }

  /** Forgets the cuts that have not happened yet. */
  void disarm() {
    proxy.ifPresent(FaultProxy::disarm);
  }

  ManagedChannel channel() {
    return channel;
  }

  /** Whether a process serves there, as far as is known. */
  boolean isServing() {
    return serving;
  }

  ReentrantLock fault() {
    return fault;
  }

  /** Returns its processes so far, including the current one. */
  List<Life> lived() {
    List<Life> all = new ArrayList<>(lived);
    life.map(ServerNode::ended).ifPresent(all::add);
    return all;
  }

  void kill() {
    serving = false;
    process.kill();
  }

  /** Shuts a process down, and returns what it reports about the calls that were left. */
  String shutDown() {
    serving = false;
    String left = process.close(PATIENCE).orElse("no output");
    process.kill();
    return left;
  }

  /** Sets the version of the library that the processes to come use. */
  void use(ServerClasses other) {
    classes = other;
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
    proxy.ifPresent(FaultProxy::close);
  }

  /**
   * Replaces a process that does not begin to serve, which can happen with another clock, and one
   * that refuses its settings.
   */
  private void start(Duration skew) {
    for (int tries = 0; tries < MAX_STARTS; tries++) {
      ServerLife next = lives.get();
      long begin = System.currentTimeMillis();
      process = ServerJvm.start(name(index), recipe, classes, next, skew, options);
      Optional<Greeting> greeting = process.awaitGreeting(PATIENCE);
      if (greeting.isPresent() && greeting.get().refused().isEmpty()) {
        note(new Life(index, begin, 0, next, ""));
        channel = connect(greeting.get().port());
        serving = true;
        return;
      }
      process.kill();
      greeting.ifPresent(
          refused -> {
            lived.add(ended(new Life(index, begin, 0, next, refused.refused())));
            if (!next.mayBeRefused() && !refused.refused().contains(READ_ONLY)) {
              throw new IllegalStateException(
                  "a server with %s refuses to start: %s".formatted(next, refused.refused()));
            }
          });
    }
    throw new IllegalStateException("server %d does not start".formatted(index));
  }

  private void note(Life begun) {
    life.map(ServerNode::ended).ifPresent(lived::add);
    life = Optional.of(begun);
  }

  private static Life ended(Life life) {
    return new Life(
        life.server(), life.start(), System.currentTimeMillis(), life.life(), life.refused());
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
