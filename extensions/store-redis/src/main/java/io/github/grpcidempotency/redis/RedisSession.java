package io.github.grpcidempotency.redis;

import com.google.common.base.Splitter;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one process of Redis, and a second one for the barrier, if there is one. They end
 * together: a write through the one is confirmed through the other only if both lead to the same
 * process. Nothing is ever sent again by itself.
 *
 * <p>Thread-safe.
 */
final class RedisSession implements AutoCloseable {
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final Optional<StatefulRedisConnection<byte[], byte[]>> second;
  private final Optional<ReplicationBarrier> barrier;
  private final int replicas;
  private final Duration timeout;

  private RedisSession(
      StatefulRedisConnection<byte[], byte[]> connection,
      Optional<StatefulRedisConnection<byte[], byte[]>> second,
      String channel,
      int replicas,
      Duration timeout) {
    this.connection = connection;
    this.second = second;
    this.replicas = replicas;
    this.timeout = timeout;
    this.barrier =
        second.map(other -> new ReplicationBarrier(other.async(), channel, replicas, timeout));
  }

  /** Makes a session that needs no replicas. */
  static RedisSession of(StatefulRedisConnection<byte[], byte[]> connection, Duration timeout) {
    return new RedisSession(connection, Optional.empty(), "", 0, timeout);
  }

  /**
   * Makes a session that asks for replicas.
   *
   * @param channel what its barrier publishes to
   * @throws RedisFailure if the connections lead to two processes
   */
  static RedisSession of(
      StatefulRedisConnection<byte[], byte[]> connection,
      StatefulRedisConnection<byte[], byte[]> second,
      String channel,
      int replicas,
      Duration timeout) {
    RedisSession session =
        new RedisSession(connection, Optional.of(second), channel, replicas, timeout);
    try {
      session.requireOneProcess(second);
    } catch (RuntimeException failure) {
      session.close();
      throw failure;
    }
    return session;
  }

  private void requireOneProcess(StatefulRedisConnection<byte[], byte[]> other) {
    String process = info().getOrDefault("run_id", "");
    if (!process.equals(info(other.async()).get("run_id"))) {
      throw RedisFailure.ofConnect(
          new IllegalStateException("Redis failed over while the store connected"));
    }
  }

  boolean isOpen() {
    return connection.isOpen() && second.map(StatefulRedisConnection::isOpen).orElse(true);
  }

  /**
   * Runs a script on a record.
   *
   * @throws RedisFailure if it fails
   */
  List<@Nullable Object> run(Script script, byte[] key, byte[]... arguments) {
    return await(start(script, key, arguments));
  }

  /** Sends a script, and does not wait. The connection is shared, so many go in one round trip. */
  CompletableFuture<List<@Nullable Object>> start(Script script, byte[] key, byte[]... arguments) {
    byte[][] keys = {key};
    CompletionStage<List<@Nullable Object>> sent =
        commands().evalsha(script.digest(), ScriptOutputType.MULTI, keys, arguments);
    return sent.toCompletableFuture()
        .exceptionallyCompose(
            failure -> {
              if (!isNotLoaded(failure)) {
                return CompletableFuture.failedFuture(failure);
              }
              return loading(script, keys, arguments);
            });
  }

  /** Runs a script in the way that a server needs which has not run it since it started. */
  List<@Nullable Object> load(Script script, byte[] key, byte[]... arguments) {
    byte[][] keys = {key};
    return await(loading(script, keys, arguments));
  }

  private CompletionStage<List<@Nullable Object>> loading(
      Script script, byte[][] keys, byte[]... arguments) {
    return commands().eval(script.source(), ScriptOutputType.MULTI, keys, arguments);
  }

  private static boolean isNotLoaded(Throwable failure) {
    return failure instanceof RedisNoScriptException
        || failure.getCause() instanceof RedisNoScriptException;
  }

  /**
   * Waits until the replicas that the store asks for have everything that this session has got an
   * answer to.
   *
   * @throws RedisFailure if they have not; it may have been done all the same
   */
  void confirm() {
    if (barrier.isEmpty()) {
      return;
    }
    long confirmed;
    try {
      // Behind a WAIT that has just been sent, and perhaps for as long again.
      confirmed = await(barrier.get().confirmations(), timeout.multipliedBy(3));
    } catch (RedisFailure failure) {
      close();
      throw RedisFailure.lost(failure);
    }
    if (confirmed < replicas) {
      throw RedisFailure.unconfirmed(confirmed, replicas);
    }
  }

  /**
   * Waits for an answer. If it does not come in time, the session is closed, because nobody knows
   * when it will come.
   *
   * @throws RedisFailure if it fails
   */
  <T> T await(CompletionStage<T> sent) {
    return await(sent, timeout);
  }

  private <T> T await(CompletionStage<T> sent, Duration patience) {
    try {
      return sent.toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | CompletionException failure) {
      RedisFailure known =
          RedisFailure.ofCommand(failure.getCause() == null ? failure : failure.getCause());
      if (known.mayBeDone() || known.isReadOnly()) {
        close();
      }
      throw known;
    } catch (TimeoutException late) {
      close();
      throw RedisFailure.lost(late);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw RedisFailure.lost(interrupted);
    }
  }

  RedisAsyncCommands<byte[], byte[]> commands() {
    return connection.async();
  }

  /**
   * Returns what the server tells about itself.
   *
   * @throws RedisFailure if it tells nothing
   */
  Map<String, String> info() {
    return info(commands());
  }

  private Map<String, String> info(RedisAsyncCommands<byte[], byte[]> from) {
    return Splitter.on('\n')
        .splitToStream(await(from.info()))
        .map(String::strip)
        .filter(line -> line.indexOf(':') > 0)
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.indexOf(':')),
                line -> line.substring(line.indexOf(':') + 1),
                (one, other) -> one));
  }

  @Override
  public void close() {
    CompletableFuture<Void> unused = connection.closeAsync();
    second.ifPresent(
        other -> {
          CompletableFuture<Void> unusedToo = other.closeAsync();
        });
  }
}
