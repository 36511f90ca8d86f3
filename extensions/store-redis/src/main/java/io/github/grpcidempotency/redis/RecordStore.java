package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.IdempotencyKey;
import java.time.Duration;
import java.util.function.Function;

/** What claims need to talk to the records. Thread-safe. */
record RecordStore(RedisLink link, RecordKey names, SettingsWatch settings, Duration lease) {
  /** Returns the name of a record. */
  byte[] keyOf(IdempotencyKey key) {
    return RecordKey.bytes(names.nameOf(key));
  }

  /** Does one thing; every failure of Redis is a {@code StoreException}. */
  <T> T inStore(String what, Function<RedisSession, T> work) {
    try {
      return work.apply(link.session());
    } catch (RedisFailure failure) {
      throw failure.inStore("could not " + what);
    }
  }
}
