package io.github.grpcidempotency.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;

/**
 * The way to Redis: one session for all, made when it is needed, and made anew after it broke. A
 * driver that connects by itself would send commands again whose answer was lost, so this one must
 * not; and each new connection asks the sentinels, if there are any, who the master is.
 *
 * <p>Thread-safe. Those who need a session while one is being made wait for that one.
 */
final class RedisLink implements AutoCloseable {
  private final RedisClient client;
  private final RedisURI uri;
  private final Duration timeout;
  private final String barrier;
  private final int replicas;
  private Optional<CompletableFuture<RedisSession>> latest = Optional.empty();
  private boolean closed;

  /**
   * Makes a link that connects when it is needed.
   *
   * @param barrier the channel that is published to before replicas are waited for
   */
  RedisLink(
      RedisURI uri,
      UnaryOperator<ClientOptions.Builder> options,
      Duration timeout,
      String barrier,
      int replicas) {
    this.uri = withTimeout(uri, timeout);
    this.timeout = timeout;
    this.barrier = barrier;
    this.replicas = replicas;
    this.client = RedisClient.create();
    client.setOptions(
        options
            .apply(
                ClientOptions.builder()
                    .socketOptions(SocketOptions.builder().connectTimeout(timeout).build()))
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP2)
            .build());
  }

  /** The driver's own way to copy an address forgets its sentinels. */
  private static RedisURI withTimeout(RedisURI uri, Duration timeout) {
    RedisURI copy = new RedisURI();
    if (uri.getHost() != null) {
      copy.setHost(uri.getHost());
      copy.setPort(uri.getPort());
    }
    if (uri.getSocket() != null) {
      copy.setSocket(uri.getSocket());
    }
    if (uri.getSentinelMasterId() != null) {
      copy.setSentinelMasterId(uri.getSentinelMasterId());
    }
    if (uri.getClientName() != null) {
      copy.setClientName(uri.getClientName());
    }
    copy.getSentinels().addAll(uri.getSentinels());
    copy.applyAuthentication(uri);
    copy.applySsl(uri);
    copy.setDatabase(uri.getDatabase());
    copy.setTimeout(timeout);
    return copy;
  }

  boolean hasSentinels() {
    return !uri.getSentinels().isEmpty();
  }

  /**
   * Returns an open session.
   *
   * @throws RedisFailure if none can be had
   */
  RedisSession session() {
    CompletableFuture<RedisSession> attempt;
    boolean mine = false;
    synchronized (this) {
      if (closed) {
        throw RedisFailure.closed();
      }
      if (latest.isEmpty() || isOver(latest.get())) {
        latest = Optional.of(new CompletableFuture<>());
        mine = true;
      }
      attempt = latest.get();
    }
    if (mine) {
      try {
        attempt.complete(connect());
      } catch (RuntimeException failure) {
        attempt.completeExceptionally(causeOf(failure));
      }
    }
    try {
      return attempt.join();
    } catch (CompletionException failure) {
      if (failure.getCause() instanceof RedisFailure known) {
        throw known;
      }
      throw failure;
    }
  }

  /** A store that is being closed ends attempts to connect, which is no outage either. */
  private synchronized RedisFailure causeOf(RuntimeException failure) {
    if (closed) {
      return RedisFailure.closed();
    }
    return failure instanceof RedisFailure known ? known : RedisFailure.ofConnect(failure);
  }

  private static boolean isOver(CompletableFuture<RedisSession> attempt) {
    return attempt.isCompletedExceptionally() || (attempt.isDone() && !attempt.join().isOpen());
  }

  private RedisSession connect() {
    StatefulRedisConnection<byte[], byte[]> first = client.connect(ByteArrayCodec.INSTANCE, uri);
    if (replicas == 0) {
      return RedisSession.of(first, timeout);
    }
    try {
      return RedisSession.of(
          first, client.connect(ByteArrayCodec.INSTANCE, uri), barrier, replicas, timeout);
    } catch (RuntimeException failure) {
      CompletableFuture<Void> unused = first.closeAsync();
      throw failure;
    }
  }

  /**
   * Opens a connection that listens.
   *
   * @throws RedisFailure if none can be had
   */
  StatefulRedisPubSubConnection<String, String> listen() {
    try {
      return client.connectPubSub(StringCodec.UTF8, uri);
    } catch (RuntimeException failure) {
      throw RedisFailure.ofConnect(failure);
    }
  }

  /** Returns how long an answer may take. */
  Duration timeout() {
    return timeout;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    client.shutdown(Duration.ZERO, timeout);
  }
}
