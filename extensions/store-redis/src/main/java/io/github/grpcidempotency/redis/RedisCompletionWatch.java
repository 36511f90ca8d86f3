package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.support.DaemonThreads;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.github.grpcidempotency.store.support.RepeatedTask;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Detects when operations of other servers end. It uses a separate connection in two ways: it
 * subscribes to the channel of each operation, and queries all operations at once, every second and
 * whenever an operation is added. Without the connection, it queries ten times a second instead.
 *
 * <p>One daemon thread, which starts with the first watched operation.
 */
final class RedisCompletionWatch implements CompletionWatch {
  private static final Duration TICK = Duration.ofMillis(50);
  private static final Duration POLL_WHEN_SUBSCRIBED = Duration.ofSeconds(1);
  private static final Duration POLL_OTHERWISE = Duration.ofMillis(100);

  private final RecordStore records;
  private final Consumer<IdempotencyKey> ended;
  private final Map<String, IdempotencyKey> watched = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer = DaemonThreads.newTimer("idempotency-watch");
  private final RepeatedTask tick =
      RepeatedTask.of(
          "watch other servers' operations",
          RateLimitedLog.of(LoggerFactory.getLogger(RedisCompletionWatch.class)),
          this::tick);
  private boolean started;

  // Runs on the timer's thread.
  private Optional<StatefulRedisPubSubConnection<String, String>> connection = Optional.empty();
  private final Set<String> subscribed = new HashSet<>();
  private final Set<String> asked = new HashSet<>();
  private long lastPoll = System.nanoTime();

  RedisCompletionWatch(RecordStore records, Consumer<IdempotencyKey> ended) {
    this.records = records;
    this.ended = ended;
  }

  @Override
  public void add(IdempotencyKey key) {
    watched.put(records.names().nameOf(key), key);
    synchronized (this) {
      if (!started) {
        started = true;
        ScheduledFuture<?> unused =
            timer.scheduleWithFixedDelay(tick, 0, TICK.toMillis(), TimeUnit.MILLISECONDS);
      }
    }
  }

  @Override
  public void remove(IdempotencyKey key) {
    watched.remove(records.names().nameOf(key));
  }

  @Override
  public void close() {
    timer.execute(this::disconnect);
    timer.shutdown();
  }

  private void tick() {
    Map<String, IdempotencyKey> now = Map.copyOf(watched);
    asked.retainAll(now.keySet());
    if (now.isEmpty() && subscribed.isEmpty()) {
      return;
    }
    boolean isSubscribed = subscribe(now.keySet());
    Duration interval = isSubscribed ? POLL_WHEN_SUBSCRIBED : POLL_OTHERWISE;
    boolean added = !asked.containsAll(now.keySet());
    if (added || System.nanoTime() - lastPoll > interval.toNanos()) {
      lastPoll = System.nanoTime();
      poll(now);
      asked.addAll(now.keySet());
    }
  }

  /** Returns whether this watch receives published ends. */
  private boolean subscribe(Set<String> names) {
    try {
      StatefulRedisPubSubConnection<String, String> open = connected();
      String[] gone =
          subscribed.stream().filter(name -> !names.contains(name)).toArray(String[]::new);
      String[] added =
          names.stream().filter(name -> !subscribed.contains(name)).toArray(String[]::new);
      if (gone.length > 0) {
        await(open.async().unsubscribe(gone));
        subscribed.removeAll(Set.of(gone));
      }
      if (added.length > 0) {
        await(open.async().subscribe(added));
        subscribed.addAll(Set.of(added));
      }
      return true;
    } catch (RedisFailure failure) {
      disconnect();
      return false;
    }
  }

  private StatefulRedisPubSubConnection<String, String> connected() {
    if (connection.filter(StatefulRedisPubSubConnection::isOpen).isPresent()) {
      return connection.get();
    }
    disconnect();
    StatefulRedisPubSubConnection<String, String> open = records.link().listen();
    open.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            notifyEnded(channel);
          }
        });
    connection = Optional.of(open);
    return open;
  }

  private void disconnect() {
    connection.ifPresent(
        open -> {
          CompletableFuture<Void> unused = open.closeAsync();
        });
    connection = Optional.empty();
    subscribed.clear();
  }

  private void await(RedisFuture<Void> sent) {
    try {
      if (!sent.await(records.link().timeout().toNanos(), TimeUnit.NANOSECONDS)) {
        throw RedisFailure.lost(null);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw RedisFailure.lost(interrupted);
    }
    if (sent.getError() != null) {
      throw RedisFailure.lost(new IllegalStateException(sent.getError()));
    }
  }

  private void poll(Map<String, IdempotencyKey> keys) {
    if (keys.isEmpty()) {
      return;
    }
    RedisSession session = records.link().session();
    Map<String, CompletableFuture<List<@Nullable Object>>> answers = new LinkedHashMap<>();
    for (String name : keys.keySet()) {
      answers.put(name, session.start(Script.IS_IN_FLIGHT, RecordReply.bytes(name)));
    }
    answers.forEach(
        (name, answer) -> {
          if (!RecordReply.isDone(session.await(answer))) {
            notifyEnded(name);
          }
        });
  }

  private void notifyEnded(String name) {
    IdempotencyKey key = watched.get(name);
    if (key != null) {
      ended.accept(key);
    }
  }
}
