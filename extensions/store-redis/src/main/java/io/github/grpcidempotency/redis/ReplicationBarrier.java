package io.github.grpcidempotency.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Waits until replicas have received the writes. {@code WAIT} blocks its connection, so the barrier
 * has a connection of its own, and one {@code WAIT} answers for all writes before it.
 *
 * <p>{@code WAIT} waits until the replicas have the last write <em>of its own connection</em>; only
 * Redis before 7.2 counts every command as a write. So a message is published before each {@code
 * WAIT}: the replicas receive it after all earlier writes, and it changes neither the data nor the
 * disk.
 *
 * <p>Does not block.
 */
final class ReplicationBarrier {
  private final RedisAsyncCommands<byte[], byte[]> commands;
  private final byte[] channel;
  private final int replicas;
  private final Duration patience;

  @GuardedBy("this")
  private CompletableFuture<Long> next = new CompletableFuture<>();

  @GuardedBy("this")
  private boolean awaited;

  @GuardedBy("this")
  private boolean running;

  /**
   * Creates a barrier on a connection.
   *
   * @param channel the channel of the messages; nobody subscribes to it
   */
  ReplicationBarrier(
      RedisAsyncCommands<byte[], byte[]> commands,
      String channel,
      int replicas,
      Duration patience) {
    this.commands = commands;
    this.channel = RecordReply.bytes(channel);
    this.replicas = replicas;
    this.patience = patience;
  }

  /** Returns how many replicas have all writes that the server has answered so far. */
  CompletableFuture<Long> confirmations() {
    CompletableFuture<Long> mine;
    boolean starts;
    synchronized (this) {
      mine = next;
      awaited = true;
      starts = !running;
      running = true;
    }
    if (starts) {
      send();
    }
    return mine;
  }

  private void send() {
    CompletableFuture<Long> batch;
    synchronized (this) {
      batch = next;
      next = new CompletableFuture<>();
      awaited = false;
    }
    try {
      CompletionStage<Long> published = commands.publish(channel, new byte[0]);
      CompletionStage<Long> unused =
          commands
              .waitForReplication(replicas, patience.toMillis())
              .thenCombine(published, (count, listeners) -> count)
              .whenComplete((count, failure) -> end(batch, count, failure));
    } catch (RuntimeException | Error closed) {
      end(batch, null, closed);
    }
  }

  private void end(
      CompletableFuture<Long> batch, @Nullable Long count, @Nullable Throwable failure) {
    boolean again;
    synchronized (this) {
      again = awaited;
      running = again;
    }
    if (count == null) {
      batch.completeExceptionally(failure == null ? new IllegalStateException() : failure);
    } else {
      batch.complete(count);
    }
    if (again) {
      send();
    }
  }
}
