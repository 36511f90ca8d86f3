package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;

import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.testing.IdempotencyStoreContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;

@NeedsProgram(REDIS)
class RedisIdempotencyStoreContractTest extends IdempotencyStoreContract {
  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  private final List<RedisIdempotencyStore> stores = new ArrayList<>();

  @AfterEach
  void closeStores() {
    stores.forEach(RedisIdempotencyStore::close);
  }

  @Override
  protected IdempotencyStore newStore(Duration lease) {
    RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis.uri()).lease(lease).build();
    stores.add(store);
    return store;
  }

  /** Only the server's clock counts, and nobody can put it forward. */
  @Override
  protected void letPass(Duration time) {
    long end = System.nanoTime() + time.plusMillis(20).toNanos();
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }
}
