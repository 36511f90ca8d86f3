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
 * A connection to one process of Redis, and a second one for the barrier, if there is one. Both
 * close together: the second connection can confirm writes of the first one only if both lead to
 * the same process. The driver never repeats a command.
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

  /**
   * Creates a session.
   *
   * @param second waits for replicas; empty if none are needed
   * @param channel the channel of the barrier's messages
   */
  static RedisSession of(
      StatefulRedisConnection<byte[], byte[]> connection,
      Optional<StatefulRedisConnection<byte[], byte[]>> second,
      String channel,
      int replicas,
      Duration timeout) {
    RedisSession session = new RedisSession(connection, second, channel, replicas, timeout);
    try {
      second.ifPresent(session::requireOneProcess);
      return session;
    } catch (Throwable failure) {
      session.close();
      throw failure;
    }
  }

  private void requireOneProcess(StatefulRedisConnection<byte[], byte[]> other) {
    String process = info().getOrDefault("run_id", "");
    if (!process.equals(info(other.async()).get("run_id"))) {
      throw RedisFailure.ofConnect(
          new IllegalStateException("Redis failed over while the store was connecting"), true);
    }
  }

  boolean isOpen() {
    return connection.isOpen() && second.map(StatefulRedisConnection::isOpen).orElse(true);
  }

  /** Runs a script on a record. */
  List<@Nullable Object> run(Script script, byte[] key, byte[]... arguments) {
    return await(start(script, key, arguments));
  }

  /**
   * Sends a script without waiting for the answer. All calls share the connection, so several
   * scripts can share a round trip.
   */
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

  /** Runs a script by its text, for a server that has not loaded the script since it started. */
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

  /** Waits until the required replicas have every write that was answered on this session. */
  void confirm() {
    if (barrier.isEmpty()) {
      return;
    }
    long confirmed;
    try {
      // This WAIT may queue behind one that was just sent, so twice the time is allowed.
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
   * Waits for an answer. If it does not arrive in time, the session is closed, because a late
   * answer cannot be told apart from the next one.
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

  /** Returns the server's {@code INFO}. */
  Map<String, String> info() {
    return info(commands());
  }

  private Map<String, String> info(RedisAsyncCommands<byte[], byte[]> from) {
    return Splitter.on('\n').splitToList(await(from.info())).stream()
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
