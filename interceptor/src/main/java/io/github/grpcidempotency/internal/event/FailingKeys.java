package io.github.grpcidempotency.internal.event;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import io.github.grpcidempotency.key.IdempotencyKey;

/**
 * How often in a row the runs of a key have failed in this process. Only the keys that failed last
 * are known. Thread-safe.
 */
final class FailingKeys {
  /** A key that has failed so often probably fails with every retry. */
  static final int MANY = 10;

  private static final int MOST_KEYS = 1_000;

  private final Cache<IdempotencyKey, Integer> failures =
      CacheBuilder.newBuilder().maximumSize(MOST_KEYS).build();

  /** Counts a run that has failed, and returns how many runs of its key have failed in a row. */
  int failed(IdempotencyKey key) {
    return failures.asMap().merge(key, 1, Integer::sum);
  }

  void succeeded(IdempotencyKey key) {
    // Unlike a removal, a look-up takes no lock.
    if (failures.asMap().containsKey(key)) {
      failures.invalidate(key);
    }
  }
}
