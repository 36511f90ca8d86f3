package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.RedisIdempotencyStore;
import io.github.grpcidempotency.redis.RedisProcess;
import io.github.grpcidempotency.store.IdempotencyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The Redis on which the tests of calls run once more: one server for a class, and a store with
 * records of its own for each test.
 */
final class RedisJourney implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private final List<RedisIdempotencyStore> stores = new ArrayList<>();
  private Optional<RedisProcess> redis = Optional.empty();

  IdempotencyStore newStore() {
    RedisIdempotencyStore store =
        RedisIdempotencyStore.builder(redis.orElseThrow().uri())
            .prefix("journey-" + UUID.randomUUID())
            .build();
    stores.add(store);
    return store;
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    redis = Optional.of(RedisProcess.durable());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    stores.forEach(RedisIdempotencyStore::close);
    stores.clear();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    redis.ifPresent(RedisProcess::close);
  }
}
