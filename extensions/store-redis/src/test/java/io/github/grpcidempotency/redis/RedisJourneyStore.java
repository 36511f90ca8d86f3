package io.github.grpcidempotency.redis;

import static org.junit.jupiter.api.Assumptions.abort;

import io.github.grpcidempotency.grpc.JourneyStore;
import io.github.grpcidempotency.spi.IdempotencyStore;
import java.time.Duration;
import java.util.UUID;

/** The Redis of the tests of calls, which ends with the JVM. */
public final class RedisJourneyStore implements JourneyStore {
  private static final RedisProcess REDIS = RedisProcess.durable();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(REDIS::close));
  }

  @Override
  public IdempotencyStore newStore(Duration lease) {
    return RedisIdempotencyStore.builder(REDIS.uri())
        .lease(lease)
        .prefix("journey-" + UUID.randomUUID())
        .build();
  }

  @Override
  public void letPass(Duration time) {
    abort("nobody can put the clock of Redis forward");
  }
}
