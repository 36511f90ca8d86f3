package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A Redis of its own: a process with a directory, which tests kill, stop and start again. */
public final class RedisProcess implements AutoCloseable {
  private static final List<String> APPENDING =
      List.of("--appendonly", "yes", "--appendfsync", "always");

  private final int port;
  private final Path directory;
  private final List<String> settings;
  private final Map<String, String> environment;
  private final RedisClient client = RedisClient.create();
  private Process process;

  private RedisProcess(
      int port, Path directory, List<String> settings, Map<String, String> environment) {
    this.environment = environment;
    this.port = port;
    this.directory = directory;
    this.settings = settings;
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    this.process = launch();
  }

  /**
   * Starts a server that flushes every write, to where that takes no time, with more settings, such
   * as {@code --save ""}.
   */
  public static RedisProcess durable(String... settings) {
    return start(quick(), concat(APPENDING, List.of(settings)), Map.of());
  }

  /** Starts a server that flushes every write to a disk, with more settings. */
  static RedisProcess durableOnDisk(String... settings) {
    return start(disk(), concat(APPENDING, List.of(settings)), Map.of());
  }

  /** Starts a server that keeps nothing, with more settings. */
  static RedisProcess inMemory(String... settings) {
    return start(disk(), concat(List.of("--appendonly", "no"), List.of(settings)), Map.of());
  }

  /** Starts a server on a machine whose power may fail. */
  static RedisProcess on(PowerSupply power, String... settings) {
    return start(disk(), concat(APPENDING, List.of(settings)), power.environment());
  }

  private static Path disk() {
    return Path.of(System.getProperty("java.io.tmpdir"));
  }

  private static Path quick() {
    Path memory = Path.of("/dev/shm");
    return Files.isWritable(memory) ? memory : disk();
  }

  private static RedisProcess start(
      Path parent, List<String> settings, Map<String, String> environment) {
    try {
      RedisProcess started =
          new RedisProcess(
              freePort(), Files.createTempDirectory(parent, "redis"), settings, environment);
      started.awaitAnswer();
      return started;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  int port() {
    return port;
  }

  public RedisURI uri() {
    return uri(port);
  }

  static RedisURI uri(int port) {
    return RedisURI.create("127.0.0.1", port);
  }

  /** Kills it with SIGKILL, and waits until it is gone. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Kills it, and leaves it what a failure of the power would. */
  void losePower(PowerSupply power) {
    kill();
    power.fail(directory);
  }

  /** Starts it again on what its directory has kept. */
  void startAgain() {
    process = launch();
    awaitAnswer();
  }

  /** Starts it again, and does not wait: it takes its time to read what it has kept. */
  void startLoading() {
    process = launch("--key-load-delay", "3000");
  }

  /** Gives it so many keys to keep, of 20 kB each. */
  void fill(int keys) {
    String value = "a value".repeat(3_000);
    with(
        commands -> {
          Map<String, String> some = new HashMap<>();
          for (int key = 0; key < keys; key++) {
            some.put("filled " + key, value);
          }
          return commands.mset(some);
        });
    with(RedisCommands::bgrewriteaof);
    Awaitility.await()
        .until(
            () ->
                with(commands -> commands.info("persistence"))
                    .contains("aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0"));
  }

  /** Lets its snapshots fail, after which it takes no writes. */
  void breakSnapshots() throws IOException {
    Files.createDirectories(directory.resolve("dump.rdb").resolve("in the way"));
    with(RedisCommands::bgsave);
    Awaitility.await()
        .until(
            () ->
                with(commands -> commands.info("persistence"))
                    .contains("rdb_last_bgsave_status:err"));
  }

  /** Runs a script until somebody kills it. */
  void runForever() {
    try {
      once(commands -> commands.eval("while true do end", ScriptOutputType.STATUS));
    } catch (RedisCommandExecutionException killed) {
      // as it must be
    }
  }

  /** Stops it with SIGSTOP: it keeps its memory and its connections, and does nothing. */
  void freeze() {
    Signals.send("STOP", process.pid());
  }

  /** Lets it go on as if nothing had happened. */
  void thaw() {
    Signals.send("CONT", process.pid());
  }

  /**
   * Does something as the user who may do everything; once more if that fails: a sentinel that
   * makes the server a replica cuts all its connections.
   */
  <T> T with(Function<RedisCommands<String, String>, T> work) {
    try {
      return once(work);
    } catch (RedisException cut) {
      return once(work);
    }
  }

  private <T> T once(Function<RedisCommands<String, String>, T> work) {
    try (StatefulRedisConnection<String, String> connection = client.connect(uri())) {
      return work.apply(connection.sync());
    }
  }

  /** Makes it a replica, and waits until it has everything. */
  RedisProcess replicate(RedisProcess master) {
    follow(master);
    Awaitility.await()
        .ignoreExceptionsInstanceOf(RedisException.class)
        .until(
            () -> with(commands -> commands.info("replication")).contains("master_link_status:up"));
    Awaitility.await()
        .ignoreExceptionsInstanceOf(RedisException.class)
        .until(
            () -> master.with(commands -> commands.info("replication")).contains("state=online"));
    Awaitility.await()
        .ignoreExceptionsInstanceOf(RedisException.class)
        .until(
            () ->
                master.with(
                    commands -> {
                      commands.set("replicated", "yes");
                      return commands.waitForReplication(1, 500) > 0;
                    }));
    return this;
  }

  /** Makes it a replica, and does not wait. */
  void follow(RedisProcess master) {
    with(commands -> commands.replicaof("127.0.0.1", master.port));
  }

  /** Makes a replica a master. */
  void promote() {
    with(RedisCommands::replicaofNoOne);
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      thaw();
      kill();
    }
    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    delete(directory);
  }

  static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException | UncheckedIOException left) {
      // in the directory for temporary files
    }
  }

  private Process launch(String... more) {
    List<String> command =
        concat(
            List.of(
                "--port",
                Integer.toString(port),
                "--bind",
                "127.0.0.1",
                "--dir",
                directory.toString(),
                "--repl-diskless-sync",
                "yes",
                "--repl-diskless-sync-delay",
                "0",
                "--repl-ping-replica-period",
                "1"),
            settings);
    if (!settings.contains("--save")) {
      command = concat(command, List.of("--save", ""));
    }
    command = concat(command, List.of(more));
    try {
      ProcessBuilder builder =
          Program.REDIS
              .process(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
      builder.environment().putAll(environment);
      return builder.start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void awaitAnswer() {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .ignoreExceptionsInstanceOf(RedisException.class)
        .until(() -> isAnswering());
  }

  private boolean isAnswering() throws IOException {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "the server has ended: " + String.join("; ", Files.readAllLines(log())));
    }
    return with(RedisCommands::ping).equals("PONG");
  }

  private Path log() {
    return directory.resolve("log");
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static List<String> concat(List<String> some, List<String> more) {
    List<String> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }
}
