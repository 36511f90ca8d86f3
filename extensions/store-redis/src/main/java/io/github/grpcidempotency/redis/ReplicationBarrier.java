package io.github.grpcidempotency.redis;

import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Waits until replicas have what was written. {@code WAIT} stops the connection that it is sent on,
 * so it has one to itself, and one {@code WAIT} answers for all who came before it was sent.
 *
 * <p>{@code WAIT} waits for the replicas to get as far as the last write <em>of its own
 * connection</em>; only Redis before 7.2 counts every command as one. So something is published
 * just before it: the replicas get that after everything that was written before, and it leaves no
 * trace in the data or on the disk.
 *
 * <p>Thread-safe; does not block.
 */
final class ReplicationBarrier {
  private final RedisAsyncCommands<byte[], byte[]> commands;
  private final byte[] channel;
  private final int replicas;
  private final Duration patience;
  private CompletableFuture<Long> next = new CompletableFuture<>();
  private boolean awaited;
  private boolean running;

  /**
   * Makes a barrier on a connection.
   *
   * @param channel what is published to; nobody listens
   */
  ReplicationBarrier(
      RedisAsyncCommands<byte[], byte[]> commands,
      String channel,
      int replicas,
      Duration patience) {
    this.commands = commands;
    this.channel = RecordKey.bytes(channel);
    this.replicas = replicas;
    this.patience = patience;
  }

  /** Returns how many replicas have everything that the server has answered so far. */
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
    } catch (RuntimeException closed) {
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
