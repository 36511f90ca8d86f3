package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.test.Program;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import org.awaitility.Awaitility;

/** One sentinel, whose word is enough. */
final class RedisSentinel implements AutoCloseable {
  private static final String NAME = "things";

  private final int port = RedisProcess.freePort();
  private final RedisClient client = RedisClient.create();
  private final Path directory;
  private final Process process;

  RedisSentinel(RedisProcess master) {
    try {
      directory = Files.createTempDirectory("sentinel");
      Path settings = directory.resolve("sentinel.conf");
      Files.writeString(
          settings,
          """
          port %d
          bind 127.0.0.1
          dir %s
          sentinel monitor %s 127.0.0.1 %d 1
          sentinel down-after-milliseconds %s 500
          sentinel failover-timeout %s 2000
          """
              .formatted(port, directory, NAME, master.port(), NAME, NAME));
      process =
          Program.REDIS
              .process(settings.toString(), "--sentinel")
              .redirectErrorStream(true)
              .redirectOutput(directory.resolve("log").toFile())
              .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    awaitReplica();
  }

  RedisURI uri() {
    return RedisURI.Builder.sentinel("127.0.0.1", port, NAME).build();
  }

  /** Waits until it knows a replica that can take over. */
  void awaitReplica() {
    await(
        sentinel ->
            sentinel.replicas(NAME).stream()
                .anyMatch(
                    replica ->
                        "slave".equals(replica.get("flags"))
                            && "ok".equals(replica.get("master-link-status"))));
  }

  boolean namesMaster(RedisProcess server) {
    return ask(sentinel -> isMaster(sentinel, server));
  }

  /** Waits until it names this server as the master. */
  void awaitMaster(RedisProcess server) {
    await(
        sentinel ->
            isMaster(sentinel, server)
                && server.with(commands -> commands.info("replication")).contains("role:master"));
  }

  private static boolean isMaster(
      RedisSentinelCommands<String, String> sentinel, RedisProcess server) {
    return ((InetSocketAddress) sentinel.getMasterAddrByName(NAME)).getPort() == server.port();
  }

  private void await(Function<RedisSentinelCommands<String, String>, Boolean> condition) {
    Awaitility.await().ignoreExceptions().until(() -> ask(condition));
  }

  private boolean ask(Function<RedisSentinelCommands<String, String>, Boolean> question) {
    try (StatefulRedisSentinelConnection<String, String> connection =
        client.connectSentinel(RedisURI.create("127.0.0.1", port))) {
      return question.apply(connection.sync());
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    RedisProcess.delete(directory);
  }
}
