package io.github.grpcidempotency.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Hears what is published on some channels. */
final class Listener implements AutoCloseable {
  private final RedisClient client = RedisClient.create();
  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  Listener(RedisProcess redis, String... channels) {
    StatefulRedisPubSubConnection<String, String> connection = client.connectPubSub(redis.uri());
    connection.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(String channel, String message) {
            heard.add(channel);
          }
        });
    connection.sync().subscribe(channels);
  }

  Queue<String> heard() {
    return heard;
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
  }
}
