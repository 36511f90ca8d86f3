package io.github.grpcidempotency.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.CompletionWatch;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Detects when operations of other servers end. It queries all watched operations ten times a
 * second, in one round trip.
 *
 * <p>One daemon thread, which starts with the first watched operation.
 */
final class RedisCompletionWatch implements CompletionWatch {
  private static final Duration INTERVAL = Duration.ofMillis(100);

  private final RecordStore records;
  private final Consumer<IdempotencyKey> ended;
  private final Set<IdempotencyKey> watched = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer = DaemonThreads.newTimer("idempotency-watch");
  private final RepeatedTask poll =
      RepeatedTask.of(
          "watch other servers' operations",
          RateLimitedLog.of(LoggerFactory.getLogger(RedisCompletionWatch.class)),
          this::poll);

  @GuardedBy("this")
  private boolean started;

  RedisCompletionWatch(RecordStore records, Consumer<IdempotencyKey> ended) {
    this.records = records;
    this.ended = ended;
  }

  @Override
  public synchronized void add(IdempotencyKey key) {
    watched.add(key);
    if (!started) {
      poll.every(timer, Duration.ZERO, INTERVAL);
      started = true;
    }
  }

  @Override
  public void remove(IdempotencyKey key) {
    watched.remove(key);
  }

  @Override
  public void close() {
    timer.shutdown();
  }

  /** Sends all queries before it waits for the first answer. */
  private void poll() {
    if (watched.isEmpty()) {
      return;
    }
    RedisSession session = records.link().session();
    Map<IdempotencyKey, CompletableFuture<List<@Nullable Object>>> answers = new LinkedHashMap<>();
    for (IdempotencyKey key : watched) {
      answers.put(key, session.start(Script.IS_IN_FLIGHT, records.keyOf(key)));
    }
    answers.forEach(
        (key, answer) -> {
          if (!RecordReply.isDone(session.await(answer))) {
            ended.accept(key);
          }
        });
  }
}
