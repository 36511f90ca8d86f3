package io.github.grpcidempotency.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;

/**
 * The connection to Redis: one session for all calls, opened when it is needed, and opened again
 * after it broke. The driver's automatic reconnect is off, because it would repeat commands whose
 * answer was lost. For each new connection, the sentinels, if there are any, return the master.
 *
 * <p>A thread that needs a session while another thread opens one waits for that session.
 */
final class RedisLink implements AutoCloseable {
  private final RedisClient client;
  private final RedisURI uri;
  private final Duration timeout;
  private final String barrier;
  private final int replicas;

  @GuardedBy("this")
  private Optional<CompletableFuture<RedisSession>> latest = Optional.empty();

  @GuardedBy("this")
  private boolean closed;

  /**
   * Creates a link that connects when it is needed.
   *
   * @param barrier the channel for the message that precedes a {@code WAIT} for replicas
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

  /** Needed because the driver's own copy of an address has no sentinels. */
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
      } catch (Throwable failure) {
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

  /**
   * Returns the failure of an attempt to connect. Closing the store ends such attempts, which is no
   * outage.
   */
  private synchronized RedisFailure causeOf(Throwable failure) {
    if (closed) {
      return RedisFailure.closed();
    }
    return failure instanceof RedisFailure known
        ? known
        : RedisFailure.ofConnect(failure, hasSentinels());
  }

  private static boolean isOver(CompletableFuture<RedisSession> attempt) {
    return attempt.isCompletedExceptionally() || (attempt.isDone() && !attempt.join().isOpen());
  }

  private RedisSession connect() {
    StatefulRedisConnection<byte[], byte[]> first = client.connect(ByteArrayCodec.INSTANCE, uri);
    try {
      Optional<StatefulRedisConnection<byte[], byte[]>> second =
          replicas == 0
              ? Optional.empty()
              : Optional.of(client.connect(ByteArrayCodec.INSTANCE, uri));
      return RedisSession.of(first, second, barrier, replicas, timeout);
    } catch (Throwable failure) {
      CompletableFuture<Void> unused = first.closeAsync();
      throw failure;
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    client.shutdown(Duration.ZERO, timeout);
  }
}
